#include "opsemantics/sharding/sharding.h"

#include "absl/strings/str_cat.h"
#include "opsemantics/base/check.h"
#include "opsemantics/sharding/mesh_text.h"

namespace yuba {
namespace {

// Whether the device has the lowest number of the devices that differ from it only on axes that the
// sharding does not use.
bool IsFirst(const Mesh& mesh, const Sharding& sharding, int device) {
  std::vector<bool> used(mesh.axes.size());
  for (const AxisList& axes : sharding.axes) {
    for (uint8_t axis : axes) used[axis] = true;
  }
  for (size_t axis = 0; axis < used.size(); ++axis) {
    if (!used[axis] && mesh.coordinate(device, axis) != 0) return false;
  }
  return true;
}

std::string FactorText(const AxisList& axes, int64_t extent, const Mesh& mesh) {
  return absl::StrCat(extent, axes.empty() ? "" : "/", AxesText(mesh, axes));
}

}  // namespace

int PartCount(const Mesh& mesh, const AxisList& axes) {
  int parts = 1;
  for (uint8_t axis : axes) parts *= mesh.axes[axis].size;
  return parts;
}

int PartNumber(const Mesh& mesh, const AxisList& axes, int device) {
  int part = 0;
  for (uint8_t axis : axes) part = part * mesh.axes[axis].size + mesh.coordinate(device, axis);
  return part;
}

Interval PartInterval(const Mesh& mesh, const AxisList& axes, int64_t extent, int device) {
  if (axes.empty()) return {0, extent};
  return PartOf(extent, PartCount(mesh, axes), PartNumber(mesh, axes, device));
}

int GroupNumber(const Mesh& mesh, const Sharding& sharding, int device) {
  std::vector<bool> used(mesh.axes.size());
  for (const AxisList& axes : sharding.axes) {
    for (uint8_t axis : axes) used[axis] = true;
  }
  int group = 0;
  for (size_t axis = 0; axis < used.size(); ++axis) {
    if (used[axis]) continue;
    group = group * mesh.axes[axis].size + mesh.coordinate(device, static_cast<int>(axis));
  }
  return group;
}

Box ShardBox(const Mesh& mesh, const Sharding& sharding, const std::vector<int64_t>& dims,
             int device) {
  YUBA_CHECK(sharding.axes.size() == dims.size());
  Box box(dims.size());
  for (size_t d = 0; d < dims.size(); ++d) {
    box[d] = PartInterval(mesh, sharding.axes[d], dims[d], device);
  }
  return box;
}

NodeBoxes AnalyzeNode(const Definition& definition, const Partition& partition, const Mesh& mesh) {
  YUBA_CHECK(partition.axes.size() == definition.indices.size()) << definition.name;
  const BoxAnalysis analysis(definition);
  NodeBoxes boxes;
  for (int device = 0; device < mesh.devices(); ++device) {
    std::vector<Interval> ranges;
    int part = 0, parts = 1;
    for (size_t i = 0; i < definition.indices.size(); ++i) {
      const Index& index = definition.indices[i];
      ranges.push_back(PartInterval(mesh, partition.axes[i], index.extent, device));
      if (!index.reduction) continue;
      const int count = PartCount(mesh, partition.axes[i]);
      part = part * count + PartNumber(mesh, partition.axes[i], device);
      parts *= count;
    }
    Boxes analyzed = analysis.Analyze(ranges);
    boxes.ranges.push_back(std::move(ranges));
    boxes.reads.push_back(std::move(analyzed.reads));
    boxes.writes.push_back(std::move(analyzed.writes));
    boxes.partial.push_back(part);
    boxes.first.push_back(IsFirst(mesh, partition, device));
    boxes.partials = parts;
  }
  return boxes;
}

std::string ToString(const Sharding& sharding, const std::vector<std::vector<int64_t>>& dims,
                     const Mesh& mesh) {
  std::string text = "[";
  size_t flat = 0;
  for (const std::vector<int64_t>& factors : dims) {
    if (text.size() > 1) text += ", ";
    if (factors.size() != 1) text += "(";
    for (size_t f = 0; f < factors.size(); ++f) {
      YUBA_CHECK(flat < sharding.axes.size());
      absl::StrAppend(&text, f > 0 ? " " : "", FactorText(sharding.axes[flat++], factors[f], mesh));
    }
    if (factors.size() != 1) text += ")";
  }
  return text + "]";
}

}  // namespace yuba
