#include "runtime/program/tables.h"

#include <algorithm>

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
  std::vector<yuba::Box> boxes;
  boxes.reserve(mesh.devices());
  for (int device = 0; device < mesh.devices(); ++device) {
    boxes.push_back(BoxOn(mesh, box, device));
  }
  return boxes;
}

bool IsWellFormed(const Mesh& mesh, const Bound& bound) {
  int64_t rows = 1;
  std::vector<bool> used(mesh.axes.size(), false);
  for (int axis : bound.axes()) {
    if (axis < 0 || axis >= static_cast<int>(mesh.axes.size()) || used[axis]) return false;
    used[axis] = true;
    rows *= mesh.axes[axis].size;
  }
  return bound.values_size() == rows;
}

bool IsWellFormed(const Mesh& mesh, const Box& box) {
  return std::all_of(box.dims().begin(), box.dims().end(), [&](const Range& range) {
    return IsWellFormed(mesh, range.begin()) && IsWellFormed(mesh, range.end());
  });
}

int64_t ElementBytes(const Program& program, const Buffer& buffer) {
  const yuba::ElementType type = FromProto(buffer.type());
  return program.hash_arithmetic() && IsFloat(type) ? 8 : ByteSize(type);
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
