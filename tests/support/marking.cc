#include "tests/support/marking.h"

#include <algorithm>
#include <functional>
#include <limits>
#include <map>
#include <set>

namespace yuba {
namespace {

using Point = std::vector<int64_t>;
using Points = std::set<Point>;

int Digit(const Mesh& mesh, int device, int axis) {
  int below = 1;
  for (size_t a = axis + 1; a < mesh.axes.size(); ++a) below *= mesh.axes[a].size;
  return device / below % mesh.axes[axis].size;
}

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

bool Inside(const Mesh& mesh, const Sharding& sharding, const std::vector<int64_t>& extents,
            int device, const Point& point) {
  for (size_t d = 0; d < extents.size(); ++d) {
    if (!InPart(mesh, sharding.axes[d], extents[d], device, point[d])) return false;
  }
  return true;
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

int64_t GatheredElements(const std::vector<Points>& reads, const std::vector<Points>& owned) {
  int64_t moved = 0;
  for (size_t device = 0; device < reads.size(); ++device) {
    for (const Point& point : reads[device]) moved += owned[device].count(point) == 0;
  }
  return moved;
}

// What each device writes: the points of its output indices; where a reduction index is cut, only
// the box round those points that have a term in the device's part of the reduction. And which
// partial that is.
struct Produced {
  std::vector<Points> writes;
  std::vector<std::vector<int64_t>> partial;  // [device] the first reduction point of its part
};

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

// Bytes that move to their owners; `partials` are those that there are, each once.
int64_t BytesReduced(const TensorType& type, const Produced& produced,
                     const std::vector<Points>& owned, const std::set<Point>& partials) {
  const int64_t size = ByteSize(type.type);
  const int64_t sent = partials.size() > 1 ? ByteSize(AccumulatorType(type.type)) : size;
  int64_t moved = 0;
  ForAll(type.dims, [&](const Point& point) {
    int first_owner = -1;
    for (size_t device = 0; device < owned.size(); ++device) {
      if (owned[device].count(point) == 0) continue;
      bool copies =
          partials.size() > 1 && first_owner >= 0;  // takes the result from the first owner
      if (first_owner < 0) first_owner = static_cast<int>(device);
      if (copies) {
        moved += size;
        continue;
      }
      for (const Point& partial : partials) {
        bool exists = false;
        for (size_t producer = 0; producer < owned.size(); ++producer) {
          exists = exists || (produced.partial[producer] == partial &&
                              produced.writes[producer].count(point) > 0);
        }
        bool has = produced.partial[device] == partial && produced.writes[device].count(point) > 0;
        if (exists && !has) moved += sent;
      }
    }
  });
  return moved;
}

// Whether devices a and b are in one group of a tensor of partials: they agree on the axes that
// `sharding` leaves out.
bool SameGroup(const Mesh& mesh, const Sharding& sharding, int a, int b) {
  for (size_t axis = 0; axis < mesh.axes.size(); ++axis) {
    const int at = static_cast<int>(axis);
    const bool used = std::any_of(
        sharding.axes.begin(), sharding.axes.end(),
        [&](const AxisList& list) { return std::count(list.begin(), list.end(), axis) > 0; });
    if (!used && Digit(mesh, a, at) != Digit(mesh, b, at)) return false;
  }
  return true;
}

// Whether the groups of a tensor with that sharding are those of a node that numbers its groups by
// the axes `groups`.
bool SameGroups(const Mesh& mesh, const AxisList& groups, const Sharding& sharding) {
  for (int a = 0; a < mesh.devices(); ++a) {
    for (int b = 0; b < a; ++b) {
      const bool together = std::all_of(groups.begin(), groups.end(), [&](int axis) {
        return Digit(mesh, a, axis) == Digit(mesh, b, axis);
      });
      if (together != SameGroup(mesh, sharding, a, b)) return false;
    }
  }
  return true;
}

// Elements of partials that stay unreduced which one device writes and another of its group owns.
int64_t GatheredElements(const Mesh& mesh, const Produced& produced, const Sharding& sharding,
                         const std::vector<Points>& owned) {
  int64_t moved = 0;
  for (int producer = 0; producer < mesh.devices(); ++producer) {
    for (const Point& point : produced.writes[producer]) {
      for (int owner = 0; owner < mesh.devices(); ++owner) {
        moved += owner != producer && SameGroup(mesh, sharding, producer, owner) &&
                 owned[owner].count(point) > 0;
      }
    }
  }
  return moved;
}

void TryAxes(const Mesh& mesh, const std::vector<int64_t>& extents, size_t axis, Sharding* sharding,
             std::vector<Sharding>* found) {
  if (axis == mesh.axes.size()) {
    found->push_back(*sharding);
    return;
  }
  TryAxes(mesh, extents, axis + 1, sharding, found);
  for (AxisList& list : sharding->axes) {
    for (size_t at = 0; at <= list.size(); ++at) {
      list.insert(list.begin() + at, static_cast<uint8_t>(axis));
      TryAxes(mesh, extents, axis + 1, sharding, found);
      list.erase(list.begin() + at);
    }
  }
}

bool Possible(const Mesh& mesh, const std::vector<int64_t>& extents, const Sharding& sharding) {
  for (size_t e = 0; e < extents.size(); ++e) {
    if (!sharding.axes[e].empty() && PartCount(mesh, sharding.axes[e]) > extents[e]) return false;
  }
  return true;
}

bool CouldGoFurther(const Mesh& mesh, const std::vector<int64_t>& extents,
                    const Sharding& sharding) {
  std::set<int> used;
  for (const AxisList& list : sharding.axes) used.insert(list.begin(), list.end());
  for (size_t axis = 0; axis < mesh.axes.size(); ++axis) {
    if (used.count(static_cast<int>(axis)) > 0) continue;
    for (size_t e = 0; e < extents.size(); ++e) {
      Sharding further = sharding;
      further.axes[e].push_back(static_cast<uint8_t>(axis));
      if (Possible(mesh, extents, further)) return true;
    }
  }
  return false;
}

}  // namespace

MarkedTable MarkedBytes(const Definition& whole, const Mesh& mesh, int operand,
                        const std::vector<Sharding>& partitions,
                        const std::vector<Sharding>& shardings) {
  Definition definition = whole;
  const bool grouped = !definition.partial_operands.empty();
  if (grouped) definition.indices.back().extent = mesh.devices();  // at least as many as groups
  const bool unreduced =
      operand >= 0 && ReadsPartials(definition, operand) && !CombinesPartials(definition);
  const TensorType& type = operand < 0 ? definition.result : definition.operands[operand];
  std::vector<std::vector<Points>> owned;
  for (const Sharding& sharding : shardings) owned.push_back(Owned(mesh, sharding, type.dims));
  MarkedTable bytes;
  for (const Sharding& sharding : partitions) {
    bytes.emplace_back();
    if (operand >= 0) {
      std::vector<Points> reads;
      for (int device = 0; device < mesh.devices(); ++device) {
        reads.push_back(ReadsOf(definition, mesh, sharding, device, operand));
      }
      for (size_t t = 0; t < shardings.size(); ++t) {
        const bool never = unreduced && !SameGroups(mesh, sharding.axes.back(), shardings[t]);
        bytes.back().push_back(never ? kNeverMarked
                                     : GatheredElements(reads, owned[t]) * ByteSize(type.type));
      }
      continue;
    }
    Produced produced = ProducedBy(definition, mesh, sharding);
    if (definition.partial) {
      for (size_t t = 0; t < shardings.size(); ++t) {
        bytes.back().push_back(GatheredElements(mesh, produced, shardings[t], owned[t]) *
                               ByteSize(type.type));
      }
      continue;
    }
    std::set<Point> partials(produced.partial.begin(), produced.partial.end());
    for (const std::vector<Points>& own : owned) {
      bytes.back().push_back(BytesReduced(type, produced, own, partials));
    }
  }
  return bytes;
}

int64_t MarkedBytes(const Graph& graph, const Mesh& mesh, NodeId node, int operand,
                    const Sharding& partition, const Sharding& sharding) {
  return MarkedBytes(*graph.nodes[node].definition, mesh, operand, {partition}, {sharding})[0][0];
}

int64_t MarkedBytes(const Graph& graph, const Mesh& mesh, const std::vector<Sharding>& tensors,
                    const std::vector<Sharding>& nodes) {
  int64_t bytes = 0;
  for (size_t n = 0; n < graph.nodes.size(); ++n) {
    const Node& node = graph.nodes[n];
    int64_t here =
        MarkedBytes(graph, mesh, static_cast<NodeId>(n), -1, nodes[n], tensors[node.result]);
    for (size_t o = 0; o < node.operands.size(); ++o) {
      here += MarkedBytes(graph, mesh, static_cast<NodeId>(n), static_cast<int>(o), nodes[n],
                          tensors[node.operands[o]]);
    }
    bytes += graph.entries[node.entry].times * here;
  }
  return bytes;
}

std::vector<Sharding> TriedChoices(const Mesh& mesh, const std::vector<int64_t>& extents,
                                   bool maximal) {
  Sharding sharding;
  sharding.axes.resize(extents.size());
  std::vector<Sharding> all, legal;
  TryAxes(mesh, extents, 0, &sharding, &all);
  for (const Sharding& candidate : all) {
    if (!Possible(mesh, extents, candidate)) continue;
    if (!maximal || !CouldGoFurther(mesh, extents, candidate)) legal.push_back(candidate);
  }
  return legal;
}

MarkedTable MarkedCopyBytes(const Mesh& mesh, const TensorType& type,
                            const std::vector<Sharding>& shardings,
                            const std::vector<Sharding>& copy_shardings) {
  std::vector<std::vector<Points>> reads;
  for (const Sharding& sharding : copy_shardings) reads.push_back(Owned(mesh, sharding, type.dims));
  MarkedTable bytes;
  for (const Sharding& sharding : shardings) {
    std::vector<Points> owned = Owned(mesh, sharding, type.dims);
    bytes.emplace_back();
    for (const std::vector<Points>& read : reads) {
      bytes.back().push_back(GatheredElements(read, owned) * ByteSize(type.type));
    }
  }
  return bytes;
}

namespace {

// How far apart two devices are.
int KindApart(const Mesh& mesh, int a, int b) {
  int kind = 0;
  for (size_t axis = 0; axis < mesh.axes.size(); ++axis) {
    const int at = static_cast<int>(axis);
    if (Digit(mesh, a, at) != Digit(mesh, b, at)) kind = std::max(kind, mesh.axes[axis].kind);
  }
  return kind;
}

// The nearest of the devices to which `has` applies; -1: there is none.
int Nearest(const Mesh& mesh, int device, const std::function<bool(int)>& has) {
  int nearest = -1;
  for (int other = 0; other < mesh.devices(); ++other) {
    if (!has(other)) continue;
    if (other == device) return device;
    if (nearest < 0 || KindApart(mesh, device, other) < KindApart(mesh, device, nearest)) {
      nearest = other;
    }
  }
  return nearest;
}

// Counts elements that come to one device, by the device that gives them.
class Received {
 public:
  Received(const Mesh& mesh, int device) : mesh_(mesh), device_(device) {}

  void Take(int source) {
    if (source >= 0 && source != device_) ++elements_[source];
  }
  // With elements of `size` bytes, of which one in `share` comes, rounded up.
  void AddTo(int64_t share, int64_t size, Moved* moved) const {
    std::map<int, int64_t> of_kinds;
    for (const auto& [source, count] : elements_) {
      const int kind = KindApart(mesh_, device_, source);
      of_kinds[kind] += count;
      ++moved->messages[kind];
    }
    for (const auto& [kind, count] : of_kinds) {
      moved->bytes[kind] += (count + share - 1) / share * size;
    }
  }

 private:
  const Mesh& mesh_;
  const int device_;
  std::map<int, int64_t> elements_;
};

std::vector<Moved> GatheredMoved(const Mesh& mesh, const std::vector<Points>& reads,
                                 const std::vector<Points>& owned, int64_t size) {
  std::vector<Moved> moved(mesh.devices());
  for (int device = 0; device < mesh.devices(); ++device) {
    Received received(mesh, device);
    for (const Point& point : reads[device]) {
      received.Take(
          Nearest(mesh, device, [&](int other) { return owned[other].count(point) > 0; }));
    }
    received.AddTo(1, size, &moved[device]);
  }
  return moved;
}

std::vector<Moved> ReducedMoved(const Mesh& mesh, const TensorType& type, const Produced& produced,
                                const std::vector<Points>& owned) {
  const std::set<Point> partials(produced.partial.begin(), produced.partial.end());
  const int64_t size = ByteSize(type.type);
  if (partials.size() == 1) return GatheredMoved(mesh, owned, produced.writes, size);
  std::vector<Moved> moved(mesh.devices());
  for (int device = 0; device < mesh.devices(); ++device) {
    int64_t owners = 0;
    std::map<int, int64_t> others;  // by kind
    for (int other = 0; other < mesh.devices(); ++other) {
      if (owned[other] != owned[device]) continue;
      ++owners;
      if (other != device) ++others[KindApart(mesh, device, other)];
    }
    Received received(mesh, device);
    for (const Point& point : owned[device]) {
      for (const Point& partial : partials) {
        received.Take(Nearest(mesh, device, [&](int other) {
          return produced.partial[other] == partial && produced.writes[other].count(point) > 0;
        }));
      }
    }
    received.AddTo(owners, ByteSize(AccumulatorType(type.type)), &moved[device]);
    const auto elements = static_cast<int64_t>(owned[device].size());
    for (const auto& [kind, count] : others) {
      if (elements == 0) continue;
      moved[device].bytes[kind] += (elements * count + owners - 1) / owners * size;
      moved[device].messages[kind] += count;
    }
  }
  return moved;
}

}  // namespace

std::vector<Moved> MarkedMoved(const Definition& definition, const Mesh& mesh, int operand,
                               const Sharding& partition, const Sharding& sharding) {
  const TensorType& type = operand < 0 ? definition.result : definition.operands[operand];
  const std::vector<Points> owned = Owned(mesh, sharding, type.dims);
  if (operand < 0) {
    return ReducedMoved(mesh, type, ProducedBy(definition, mesh, partition), owned);
  }
  std::vector<Points> reads;
  for (int device = 0; device < mesh.devices(); ++device) {
    reads.push_back(ReadsOf(definition, mesh, partition, device, operand));
  }
  return GatheredMoved(mesh, reads, owned, ByteSize(type.type));
}

std::vector<Moved> MarkedCopyMoved(const Mesh& mesh, const TensorType& type,
                                   const Sharding& sharding, const Sharding& copy_sharding) {
  return GatheredMoved(mesh, Owned(mesh, copy_sharding, type.dims),
                       Owned(mesh, sharding, type.dims), ByteSize(type.type));
}

}  // namespace yuba
