#include "tests/compiler/support/random_orders.h"

#include <algorithm>
#include <numeric>
#include <vector>

#include "opsemantics/definition/opaque.h"

namespace yuba::compiler {
namespace {

// [tensor]: the first of those that have one order.
class OneOrder {
 public:
  explicit OneOrder(size_t tensors) : first_(tensors) {
    std::iota(first_.begin(), first_.end(), 0);
  }
  void Join(TensorId a, TensorId b) {
    const TensorId from = first_[a], to = first_[b];
    std::replace(first_.begin(), first_.end(), from, to);
  }
  TensorId Of(TensorId tensor) const { return first_[tensor]; }

 private:
  std::vector<TensorId> first_;
};

}  // namespace

DimOrders RandomOrders(const Graph& graph, Random& random) {
  OneOrder same(graph.tensors.size());
  std::vector<bool> fixed(graph.tensors.size(), false);
  for (const Node& node : graph.nodes) {
    if (IsCopy(graph, node) || IsAccumulator(node)) {
      for (const TensorId operand : node.operands) same.Join(operand, node.result);
    }
  }
  for (const Node& node : graph.nodes) {
    if (!IsOpaque(*node.definition)) continue;
    for (const TensorId operand : node.operands) fixed[same.Of(operand)] = true;
    fixed[same.Of(node.result)] = true;
  }
  DimOrders drawn, orders;
  for (TensorId id = 0; id < static_cast<TensorId>(graph.tensors.size()); ++id) {
    DimOrder& order = drawn[same.Of(id)];
    if (order.empty()) {
      order.resize(graph.tensors[id].type.dims.size());
      std::iota(order.begin(), order.end(), 0);
      std::shuffle(order.begin(), order.end(), random);
    }
    const bool moves = !std::is_sorted(order.begin(), order.end());
    if (moves && !fixed[same.Of(id)]) orders[id] = order;
  }
  return orders;
}

}  // namespace yuba::compiler
