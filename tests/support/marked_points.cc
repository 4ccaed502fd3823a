#include "tests/support/marked_points.h"

#include <algorithm>

namespace yuba {
namespace {

// Whether a device has an element of a dimension of n elements: part j of P has the elements i with
// floor(j*n/P) <= i < floor((j+1)*n/P).
bool InPart(const Mesh& mesh, const AxisList& axes, int64_t extent, int device, int64_t element) {
  int64_t parts = 1, part = 0;
  for (uint8_t axis : axes) {
    parts *= mesh.axes[axis].size;
    part = part * mesh.axes[axis].size + Digit(mesh, device, axis);
  }
  return part * extent / parts <= element && element < (part + 1) * extent / parts;
}

bool Inside(const Mesh& mesh, const Sharding& sharding, const std::vector<int64_t>& extents,
            int device, const Point& point) {
  for (size_t d = 0; d < extents.size(); ++d) {
    if (!InPart(mesh, sharding.axes[d], extents[d], device, point[d])) return false;
  }
  return true;
}

std::vector<int64_t> Extents(const Definition& definition) {
  std::vector<int64_t> extents;
  for (const Index& index : definition.indices) extents.push_back(index.extent);
  return extents;
}

bool Holds(const Definition& definition, const Point& point) {
  for (const Constraint& constraint : definition.where) {
    int64_t value = Evaluate(constraint.expression, point);
    if (constraint.equality ? value != 0 : value > 0) return false;
  }
  return true;
}

// Whether the conditions hold whose values are known.
bool KnownHold(const Definition& definition, const Point& point) {
  for (const DataCondition& condition : definition.data_where) {
    if (condition.table == nullptr) continue;
    size_t at = 0;
    for (int index : condition.table->indices) {
      at = at * static_cast<size_t>(definition.indices[index].extent) +
           static_cast<size_t>(point[index]);
    }
    int64_t a = Evaluate(condition.index, point), b = condition.table->values[at];
    if (condition.reversed) std::swap(a, b);
    const bool holds = condition.compare == Function::kEq   ? a == b
                       : condition.compare == Function::kLt ? a < b
                                                            : a <= b;
    if (!holds) return false;
  }
  return true;
}

// The box round all elements that a read touches.
Points BoundingBox(const Points& points) {
  if (points.empty()) return points;
  Point low = *points.begin(), high = low;
  for (const Point& point : points) {
    for (size_t d = 0; d < point.size(); ++d) {
      low[d] = std::min(low[d], point[d]);
      high[d] = std::max(high[d], point[d]);
    }
  }
  std::vector<int64_t> extents;
  for (size_t d = 0; d < low.size(); ++d) extents.push_back(high[d] - low[d] + 1);
  Points box;
  ForAll(extents, [&](const Point& offset) {
    Point point = low;
    for (size_t d = 0; d < low.size(); ++d) point[d] += offset[d];
    box.insert(point);
  });
  return box;
}

}  // namespace

int Digit(const Mesh& mesh, int device, int axis) {
  int below = 1;
  for (size_t a = axis + 1; a < mesh.axes.size(); ++a) below *= mesh.axes[a].size;
  return device / below % mesh.axes[axis].size;
}

void ForAll(const std::vector<int64_t>& extents, const std::function<void(const Point&)>& visit) {
  Point point(extents.size(), 0);
  for (int64_t extent : extents) {
    if (extent == 0) return;
  }
  while (true) {
    visit(point);
    size_t d = extents.size();
    while (d > 0 && ++point[d - 1] == extents[d - 1]) point[--d] = 0;
    if (d == 0) return;
  }
}

std::vector<Points> Owned(const Mesh& mesh, const Sharding& sharding,
                          const std::vector<int64_t>& dims) {
  std::vector<Points> owned(mesh.devices());
  ForAll(dims, [&](const Point& point) {
    for (int device = 0; device < mesh.devices(); ++device) {
      if (Inside(mesh, sharding, dims, device, point)) owned[device].insert(point);
    }
  });
  return owned;
}

Points ReadsOf(const Definition& definition, const Mesh& mesh, const Sharding& sharding, int device,
               int operand) {
  Points touched;
  const std::vector<int64_t>& dims = definition.operands[operand].dims;
  ForAll(Extents(definition), [&](const Point& point) {
    if (!Inside(mesh, sharding, Extents(definition), device, point) || !Holds(definition, point))
      return;
    const auto touch = [&](const Expr& expr) {
      if (expr.kind != Expr::kRead || expr.operand != operand) return;
      Point at;
      bool inside = true;
      for (size_t d = 0; d < dims.size(); ++d) {
        at.push_back(Evaluate(expr.position[d], point));
        inside = inside && 0 <= at[d] && at[d] < dims[d];
      }
      if (inside) touched.insert(at);
    };
    for (const DataCondition& condition : definition.data_where) Walk(condition.value, touch);
    if (KnownHold(definition, point)) Walk(definition.body, touch);
  });
  return BoundingBox(touched);
}

Produced ProducedBy(const Definition& definition, const Mesh& mesh, const Sharding& sharding) {
  Produced produced;
  produced.writes.resize(mesh.devices());
  produced.partial.resize(mesh.devices());
  std::vector<int64_t> extents = Extents(definition);
  bool partial = false;
  for (size_t i = 0; i < extents.size(); ++i) {
    partial = partial || (definition.indices[i].reduction && PartCount(mesh, sharding.axes[i]) > 1);
  }
  for (int device = 0; device < mesh.devices(); ++device) {
    ForAll(extents, [&](const Point& point) {
      if (!Inside(mesh, sharding, extents, device, point)) return;
      if (partial && !(Holds(definition, point) && KnownHold(definition, point))) return;
      Point at;
      for (const Affine& left : definition.left) at.push_back(Evaluate(left, point));
      produced.writes[device].insert(at);
    });
    produced.writes[device] = BoundingBox(produced.writes[device]);
    for (size_t i = 0; i < extents.size(); ++i) {
      if (!definition.indices[i].reduction) continue;
      int64_t first = 0;
      while (first < extents[i] && !InPart(mesh, sharding.axes[i], extents[i], device, first))
        ++first;
      produced.partial[device].push_back(first);
    }
  }
  return produced;
}

}  // namespace yuba
