#include "compiler/layout/channels.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <utility>
#include <vector>

#include "absl/types/optional.h"
#include "opsemantics/definition/edit.h"
#include "opsemantics/definition/opaque.h"
#include "opsemantics/regions/convolution.h"
#include "opsemantics/regions/structure.h"

namespace yuba::compiler {
namespace {

using Position = std::vector<Affine>;

bool Has(const std::vector<int>& indices, int index) {
  return std::find(indices.begin(), indices.end(), index) != indices.end();
}

// The dimensions with `channels` behind all others; empty where nothing moves in memory.
DimOrder LastIn(const Position& position, const std::vector<int64_t>& dims,
                const std::vector<int>& channels) {
  DimOrder order(position.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_partition(order.begin(), order.end(),
                        [&](int d) { return !Has(channels, position[d].BareIndex()); });
  DimOrder moving;
  std::copy_if(order.begin(), order.end(), std::back_inserter(moving),
               [&](int d) { return dims[d] > 1; });
  return std::is_sorted(moving.begin(), moving.end()) ? DimOrder() : order;
}

std::vector<int> Joined(std::vector<int> a, const std::vector<int>& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

// Tensors that lie alike, as sets that grow together, and what is asked for them.
class AlikeTensors {
 public:
  explicit AlikeTensors(const Graph& graph) : graph_(graph), first_(graph.tensors.size()) {
    std::iota(first_.begin(), first_.end(), 0);
  }

  void Ask(TensorId tensor, const DimOrder& order) {
    if (order.empty()) return;
    asked_.emplace_back(tensor, order);
  }

  void Join(TensorId a, TensorId b) {
    a = FirstOf(a);
    b = FirstOf(b);
    first_[std::max(a, b)] = std::min(a, b);
  }

  // Each tensor's order: that for which the most elements ask, the least of several.
  DimOrders Orders() {
    std::map<TensorId, std::map<DimOrder, int64_t>> elements;
    for (const auto& [tensor, order] : asked_)
      elements[FirstOf(tensor)][order] += ElementCount(graph_.tensors[tensor].type);
    DimOrders orders;
    for (TensorId id = 0; id < static_cast<TensorId>(graph_.tensors.size()); ++id) {
      const auto found = elements.find(FirstOf(id));
      if (found == elements.end()) continue;
      const auto most =
          std::max_element(found->second.begin(), found->second.end(),
                           [](const auto& a, const auto& b) { return a.second < b.second; });
      orders[id] = most->first;
    }
    return orders;
  }

 private:
  TensorId FirstOf(TensorId tensor) {
    while (first_[tensor] != tensor) tensor = first_[tensor] = first_[first_[tensor]];
    return tensor;
  }

  const Graph& graph_;
  std::vector<TensorId> first_;  // [tensor]: one before it that lies alike, or itself
  std::vector<std::pair<TensorId, DimOrder>> asked_;
};

void AskForConvolution(const Node& node, const Convolution& convolution, AlikeTensors& tensors) {
  const Definition& definition = *node.definition;
  const auto ask = [&](ProductTensor which, const std::vector<int>& channels) {
    if (which == ProductTensor::kResult) {
      tensors.Ask(node.result, LastIn(definition.left, definition.result.dims, channels));
      return;
    }
    const Expr& read = *FactorsOf(definition)[static_cast<size_t>(which)];
    tensors.Ask(node.operands[read.operand],
                LastIn(read.position, definition.operands[read.operand].dims, channels));
  };
  ask(convolution.input, Joined(convolution.groups, convolution.inputs));
  ask(convolution.output, Joined(convolution.groups, convolution.outputs));
  ask(convolution.filter, convolution.inputs);
}

// Whether the position has, of the result's indices, two at least or all of them, each at the same
// dimension as the result and at no other.
bool LiesAlike(const Position& position, const Position& left) {
  if (position.size() != left.size()) return false;
  size_t common = 0, named = 0;
  for (size_t d = 0; d < left.size(); ++d) {
    const int index = left[d].BareIndex();
    if (index < 0) continue;
    ++named;
    for (size_t e = 0; e < position.size(); ++e) {
      const auto& terms = position[e].terms;
      const bool has = std::any_of(terms.begin(), terms.end(),
                                   [&](const auto& term) { return term.first == index; });
      if (has && e != d) return false;
      common += has ? 1 : 0;
    }
  }
  return common >= std::min<size_t>(named, 2);
}

void JoinAlike(const Node& node, AlikeTensors& tensors) {
  const Definition& definition = *node.definition;
  for (size_t k = 0; k < node.operands.size(); ++k) {
    bool alike = true;
    VisitReads(definition, static_cast<int>(k),
               [&](const Expr& read) { alike &= LiesAlike(read.position, definition.left); });
    if (alike) tensors.Join(node.operands[k], node.result);
  }
}

}  // namespace

DimOrders ChannelOrders(const Graph& graph, const std::set<ElementType>& types) {
  AlikeTensors tensors(graph);
  for (const Node& node : graph.nodes) {
    if (IsOpaque(*node.definition)) continue;
    // The index that numbers groups is in no position: the convolution is that of one group.
    const Definition definition = node.definition->partial_operands.empty()
                                      ? *node.definition
                                      : InGroups(*node.definition, 1);
    const absl::optional<Convolution> convolution = MatchConvolution(definition);
    if (!convolution.has_value()) {
      JoinAlike(node, tensors);
      continue;
    }
    if (types.count(definition.operands[0].type) > 0)
      AskForConvolution(node, *convolution, tensors);
  }
  return tensors.Orders();
}

}  // namespace yuba::compiler
