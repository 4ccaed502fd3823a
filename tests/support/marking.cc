#include "tests/support/marking.h"

#include <algorithm>
#include <limits>
#include <map>
#include <set>

#include "tests/support/marked_points.h"

namespace yuba {
namespace {

int64_t GatheredElements(const std::vector<Points>& reads, const std::vector<Points>& owned) {
  int64_t moved = 0;
  for (size_t device = 0; device < reads.size(); ++device) {
    for (const Point& point : reads[device]) moved += owned[device].count(point) == 0;
  }
  return moved;
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

}  // namespace yuba
