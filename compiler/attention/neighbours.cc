#include "compiler/attention/neighbours.h"

#include <algorithm>
#include <numeric>
#include <set>
#include <utility>

#include "absl/types/optional.h"

namespace yuba::compiler {
namespace {

// Whether the tensor or a copy of it, which may lie where it does, is among them.
bool Contains(const Graph& graph, const std::vector<TensorId>& tensors, TensorId tensor) {
  return std::any_of(tensors.begin(), tensors.end(),
                     [&](TensorId other) { return SourceOf(graph, other) == tensor; });
}

// Whether `later`, which runs behind `earlier`, has to: it reads what the other one computes, or
// computes the next value of a carried tensor whose value before that the other one reads.
bool Follows(const Graph& graph, NodeId earlier, NodeId later) {
  const Node& first = graph.nodes[earlier];
  const Node& second = graph.nodes[later];
  const auto& read = second.operands;
  return std::find(read.begin(), read.end(), first.result) != read.end() ||
         Contains(graph, first.operands, second.result);
}

// `order` with the nodes of `group` together, each of which runs where the last of them did or
// before; nullopt where there is none.
absl::optional<std::vector<NodeId>> Together(const Graph& graph, const std::vector<NodeId>& order,
                                             const std::set<NodeId>& group) {
  const auto in_group = [&](NodeId id) { return group.count(id) != 0; };
  const auto first = std::find_if(order.begin(), order.end(), in_group);
  const auto last = std::find_if(order.rbegin(), order.rend(), in_group).base();
  std::vector<NodeId> before, members, after;
  const auto follows = [&](NodeId id, const std::vector<NodeId>& others) {
    return std::any_of(others.begin(), others.end(),
                       [&](NodeId other) { return Follows(graph, other, id); });
  };
  for (auto it = first; it != last; ++it) {
    if (in_group(*it)) {
      if (follows(*it, after)) return absl::nullopt;
      members.push_back(*it);
    } else {
      (follows(*it, members) || follows(*it, after) ? after : before).push_back(*it);
    }
  }
  std::vector<NodeId> together(order.begin(), first);
  for (const std::vector<NodeId>* part : {&before, &members, &after})
    together.insert(together.end(), part->begin(), part->end());
  together.insert(together.end(), last, order.end());
  return together;
}

}  // namespace

std::vector<NodeId> NeighboursOrder(const Graph& graph, std::vector<Attention>& attention) {
  std::vector<NodeId> order(graph.nodes.size());
  std::iota(order.begin(), order.end(), 0);
  std::vector<Attention> kept;
  for (Attention& each : attention) {
    absl::optional<std::vector<NodeId>> next = order;
    for (const std::vector<NodeId>* half : {&each.forward, &each.backward}) {
      if (next.has_value() && !half->empty())
        next = Together(graph, *next, std::set<NodeId>(half->begin(), half->end()));
    }
    if (!next.has_value()) continue;
    order = *std::move(next);
    kept.push_back(std::move(each));
  }
  attention = std::move(kept);
  return order;
}

void Renumber(const std::vector<NodeId>& number, Attention& attention) {
  for (AttentionProduct& product : attention.products) {
    if (product.node >= 0) product.node = number[product.node];
  }
  for (std::vector<NodeId>* half : {&attention.forward, &attention.backward}) {
    for (NodeId& id : *half) id = number[id];
    std::sort(half->begin(), half->end());
  }
}

}  // namespace yuba::compiler
