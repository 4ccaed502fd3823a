#include "runtime/program/tables.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "runtime/program/enums.h"

namespace yuba::program {

Mesh MeshOf(const Program& program) {
  Mesh mesh;
  for (const program::MeshAxis& axis : program.mesh()) {
    mesh.axes.push_back({axis.name(), axis.size()});
  }
  return mesh;
}

int64_t ValueOn(const Mesh& mesh, const Bound& bound, int device) {
  int64_t row = 0;
  for (int axis : bound.axes()) row = row * mesh.axes[axis].size + mesh.coordinate(device, axis);
  return bound.values(static_cast<int>(row));
}

std::vector<int64_t> ValuesOn(const Mesh& mesh, const Bound& bound) {
  std::vector<int> weights(mesh.axes.size(), 0);  // by what a coordinate advances the row
  int weight = 1;
  for (int i = bound.axes_size(); i-- > 0;) {
    weights[bound.axes(i)] = weight;
    weight *= mesh.axes[bound.axes(i)].size;
  }
  std::vector<int> rows = {0};  // of the devices of the axes so far
  for (size_t axis = 0; axis < mesh.axes.size(); ++axis) {
    std::vector<int> finer;
    finer.reserve(rows.size() * mesh.axes[axis].size);
    for (int row : rows) {
      for (int c = 0; c < mesh.axes[axis].size; ++c) finer.push_back(row + c * weights[axis]);
    }
    rows = std::move(finer);
  }
  std::vector<int64_t> values;
  values.reserve(rows.size());
  for (int row : rows) values.push_back(bound.values(row));
  return values;
}

std::vector<Interval> IntervalsOn(const Mesh& mesh, const Range& range) {
  const std::vector<int64_t> begins = ValuesOn(mesh, range.begin());
  const std::vector<int64_t> ends = ValuesOn(mesh, range.end());
  std::vector<Interval> intervals;
  intervals.reserve(begins.size());
  for (size_t device = 0; device < begins.size(); ++device) {
    intervals.push_back({begins[device], std::max(begins[device], ends[device])});
  }
  return intervals;
}

Interval IntervalOn(const Mesh& mesh, const Range& range, int device) {
  const int64_t begin = ValueOn(mesh, range.begin(), device);
  return {begin, std::max(begin, ValueOn(mesh, range.end(), device))};
}

yuba::Box BoxOn(const Mesh& mesh, const Box& box, int device) {
  yuba::Box result;
  result.reserve(box.dims_size());
  for (const Range& range : box.dims()) result.push_back(IntervalOn(mesh, range, device));
  return result;
}

std::vector<yuba::Box> BoxesOn(const Mesh& mesh, const Box& box) {
  std::vector<yuba::Box> boxes(mesh.devices(), yuba::Box(box.dims_size()));
  for (int d = 0; d < box.dims_size(); ++d) {
    const std::vector<Interval> intervals = IntervalsOn(mesh, box.dims(d));
    for (size_t device = 0; device < boxes.size(); ++device) boxes[device][d] = intervals[device];
  }
  return boxes;
}

std::vector<int> FirstDevices(const Mesh& mesh, const Box& box) {
  std::vector<bool> used(mesh.axes.size(), false);
  for (const Range& range : box.dims()) {
    for (int axis : range.begin().axes()) used[axis] = true;
    for (int axis : range.end().axes()) used[axis] = true;
  }
  std::vector<int> devices = {0};
  for (size_t axis = 0; axis < mesh.axes.size(); ++axis) {
    std::vector<int> finer;
    for (int device : devices) {
      const int size = mesh.axes[axis].size;
      for (int c = 0; c < (used[axis] ? size : 1); ++c) finer.push_back(device * size + c);
    }
    devices = std::move(finer);
  }
  return devices;
}

std::string FaultOf(const Mesh& mesh, const Bound& bound) {
  int64_t rows = 1;
  std::vector<bool> used(mesh.axes.size(), false);
  for (int axis : bound.axes()) {
    if (axis < 0 || axis >= static_cast<int>(mesh.axes.size()) || used[axis]) {
      return absl::StrCat("a bound over mesh axis ", axis, ", which is not there or named twice");
    }
    used[axis] = true;
    rows *= mesh.axes[axis].size;
  }
  if (bound.values_size() == rows) return "";
  return absl::StrCat("a bound with ", bound.values_size(), " values where its axes make ", rows);
}

int64_t ElementBytes(const Program& program, const Buffer& buffer) {
  const yuba::ElementType type = FromProto(buffer.type());
  return program.hash_arithmetic() && IsFloat(type) ? 8 : ByteSize(type);
}

std::string NodeNames(const Kernel& kernel) { return absl::StrJoin(kernel.node(), ", "); }

std::string Origins(const Kernel& kernel) {
  std::vector<std::string> origins;
  for (const std::string& from : kernel.from()) {
    if (from.empty() || std::find(origins.begin(), origins.end(), from) != origins.end()) continue;
    origins.push_back(from);
  }
  return absl::StrJoin(origins, ", ");
}

namespace {

// How many leading indices definition `d` has in common with the one before it.
int SharedWithLast(const Function& function, int d) {
  const auto& last = function.definitions(d - 1).indices();
  const auto& own = function.definitions(d).indices();
  return static_cast<int>(std::mismatch(last.begin(), last.end(), own.begin(), own.end()).first -
                          last.begin());
}

}  // namespace

std::vector<Section> SectionsOf(const Function& function) {
  std::vector<Section> sections;
  for (int d = 0; d < function.definitions_size(); ++d) {
    const int shared = d == 0 ? 0 : SharedWithLast(function, d);
    if (shared == 0) {
      sections.push_back({d, d + 1, 0});
      continue;
    }
    Section& section = sections.back();
    section.shared = section.end - section.begin == 1 ? shared : std::min(section.shared, shared);
    section.end = d + 1;
  }
  return sections;
}

bool LiveAtOnce(const Buffer& a, const Buffer& b) {
  return a.first() <= b.last() && b.first() <= a.last();
}

int64_t CheckedProduct(const google::protobuf::RepeatedField<int64_t>& factors) {
  int64_t product = 1;
  bool zero = false;
  for (int64_t factor : factors) {
    if (factor < 0) return -1;
    if (factor == 0) {
      zero = true;
    } else if (product > kMostBytes / factor) {
      return -1;
    } else {
      product *= factor;
    }
  }
  return zero ? 0 : product;
}

}  // namespace yuba::program
