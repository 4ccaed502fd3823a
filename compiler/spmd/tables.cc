#include "compiler/spmd/tables.h"

#include <algorithm>
#include <utility>

#include "opsemantics/base/check.h"
#include "opsemantics/base/element_type.h"

namespace yuba::compiler {
namespace {

// By how much a step of one along `axis` raises a device's number.
int Stride(const Mesh& mesh, int axis) {
  int stride = 1;
  for (size_t a = axis + 1; a < mesh.axes.size(); ++a) stride *= mesh.axes[a].size;
  return stride;
}

// Whether any two devices that differ on `axis` alone have different values ([device]).
bool DependsOn(const Mesh& mesh, int axis, const std::vector<int64_t>& values) {
  const size_t stride = Stride(mesh, axis), block = stride * mesh.axes[axis].size;
  for (size_t first = 0; first < values.size(); first += block) {
    for (size_t device = first + stride; device < first + block; ++device) {
      if (values[device] != values[device - stride]) return true;
    }
  }
  return false;
}

}  // namespace

program::Bound BoundTable(const Mesh& mesh, const std::vector<int64_t>& values) {
  YUBA_CHECK(static_cast<int>(values.size()) == mesh.devices());
  program::Bound bound;
  // One device for each row of the table, in order: those at coordinate 0 on all axes that the
  // values do not depend on.
  std::vector<int> devices = {0};
  for (int axis = 0; axis < static_cast<int>(mesh.axes.size()); ++axis) {
    if (!DependsOn(mesh, axis, values)) continue;
    bound.add_axes(axis);
    std::vector<int> finer;
    for (int device : devices) {
      for (int i = 0; i < mesh.axes[axis].size; ++i)
        finer.push_back(device + i * Stride(mesh, axis));
    }
    devices = std::move(finer);
  }
  for (int device : devices) bound.add_values(values[device]);
  return bound;
}

program::Range RangeTable(const Mesh& mesh, const std::vector<Interval>& intervals) {
  std::vector<int64_t> begins, ends;
  for (const Interval& interval : intervals) {
    begins.push_back(interval.begin);
    ends.push_back(interval.end);
  }
  program::Range range;
  *range.mutable_begin() = BoundTable(mesh, begins);
  *range.mutable_end() = BoundTable(mesh, ends);
  return range;
}

program::Box BoxTable(const Mesh& mesh, const std::vector<Box>& boxes) {
  program::Box table;
  for (size_t d = 0; d < boxes[0].size(); ++d) {
    std::vector<Interval> intervals;
    for (const Box& box : boxes) intervals.push_back(IsEmpty(box) ? Interval{} : box[d]);
    *table.add_dims() = RangeTable(mesh, intervals);
  }
  return table;
}

Definition ComputedBy(const program::Function& function, int number, const Definition& definition) {
  if (definition.partial_operands.empty()) return definition;
  const auto& indices = function.definitions(number).indices();
  const bool several = indices.size() == static_cast<int>(definition.indices.size());
  const int64_t groups = several ? function.indices(indices[indices.size() - 1]).extent() : 1;
  return InGroups(definition, static_cast<int>(std::min(groups, kMostGroups)));
}

}  // namespace yuba::compiler
