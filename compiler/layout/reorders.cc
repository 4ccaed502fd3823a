#include "compiler/layout/reorders.h"

#include <algorithm>
#include <memory>
#include <tuple>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/types/optional.h"
#include "opsemantics/definition/names.h"
#include "opsemantics/definition/opaque.h"
#include "opsemantics/regions/structure.h"

namespace yuba::compiler {
namespace {

using Position = std::vector<Affine>;

DimOrder OrderOf(const DimOrders& orders, TensorId tensor) {
  const auto found = orders.find(tensor);
  return found == orders.end() ? DimOrder() : found->second;
}

// The indices of `role` in the order in which the tensor has them in memory, where they lie side by
// side; else nothing. Indices of extent 1 do not count.
absl::optional<std::vector<int>> SideBySide(const Definition& definition, const Position& position,
                                            const DimOrder& order, const std::vector<int>& role) {
  std::vector<int> found;
  bool ended = false;
  for (const Affine& at : InOrder(position, order)) {
    const int index = at.BareIndex();
    if (index < 0 || definition.indices[index].extent == 1) continue;
    if (std::find(role.begin(), role.end(), index) == role.end()) {
      ended = !found.empty();
      continue;
    }
    if (ended) return absl::nullopt;
    found.push_back(index);
  }
  return found;
}

// Whether the indices of each role of a product can be merged to one in all tensors that have them.
bool Merges(const Definition& definition, const Contraction& contraction,
            const std::vector<DimOrder>& orders) {
  const absl::Span<const ExprPtr> factors = FactorsOf(definition);
  const Expr* left = factors[0].get();
  const Expr* right = factors[1].get();
  if (left->operand != contraction.left) std::swap(left, right);
  const auto of = [&](const Expr& read, const std::vector<int>& role) {
    return SideBySide(definition, read.position, orders[read.operand], role);
  };
  const auto result = [&](const std::vector<int>& role) {
    return SideBySide(definition, definition.left, orders.back(), role);
  };
  const auto same = [](const auto& a, const auto& b) { return a.has_value() && a == b; };
  return same(of(*left, contraction.batch), of(*right, contraction.batch)) &&
         same(of(*left, contraction.batch), result(contraction.batch)) &&
         same(of(*left, contraction.rows), result(contraction.rows)) &&
         same(of(*right, contraction.columns), result(contraction.columns)) &&
         same(of(*left, contraction.inner), of(*right, contraction.inner));
}

bool HasPartials(const Definition& definition) {
  return definition.partial || !definition.partial_operands.empty();
}

class Reorders {
 public:
  Reorders(Graph& graph, search::Plan& plan, DimOrders& orders)
      : graph_(graph), plan_(plan), orders_(orders), asked_(orders), names_(graph) {
    for (const Node& node : graph.nodes)
      next_instance_ = std::max(next_instance_, node.instance + 1);
    for (const TensorId input : graph.inputs) orders_.erase(input);
    for (const TensorId output : graph.outputs) {
      if (!IsStored(graph.tensors[output].kind)) orders_.erase(output);
    }
  }

  std::vector<NodeId> Add() {
    std::vector<NodeId> numbers;
    const std::vector<Node> nodes = std::move(graph_.nodes);
    const search::Choices partitions = std::move(plan_.nodes);
    graph_.nodes.clear();
    plan_.nodes.clear();
    for (size_t n = 0; n < nodes.size(); ++n) {
      Node node = nodes[n];
      const bool row_major = WantsRowMajor(node);
      for (TensorId& operand : node.operands) {
        const bool itself = row_major || ReordersInput(node, operand);
        operand = ReadIn(itself ? DimOrder() : OrderOf(asked_, operand), operand, node);
      }
      const TensorId result = node.result;
      const DimOrder wanted = row_major ? DimOrder() : OrderOf(asked_, result);
      const bool reorders = wanted != OrderOf(orders_, result);
      if (reorders) node.result = NewTensor(result, wanted);
      numbers.push_back(static_cast<NodeId>(graph_.nodes.size()));
      graph_.nodes.push_back(node);
      plan_.nodes.push_back(partitions[n]);
      if (!reorders) continue;
      graph_.nodes.back().name = graph_.tensors[node.result].name;
      AddReorder(node.result, result, node);
      versions_[{result, wanted, node.entry}] = node.result;
    }
    Link(graph_);
    return numbers;
  }

 private:
  bool WantsRowMajor(const Node& node) const {
    const Definition& definition = *node.definition;
    if (IsOpaque(definition)) return true;
    if (HasPartials(definition)) return false;
    const absl::optional<Contraction> contraction = MatchContraction(definition);
    if (!contraction.has_value() || contraction->left == contraction->right) return false;
    std::vector<DimOrder> asked;
    for (const TensorId operand : node.operands) asked.push_back(OrderOf(asked_, operand));
    asked.push_back(OrderOf(asked_, node.result));
    return Merges(definition, *contraction, std::vector<DimOrder>(asked.size())) &&
           !Merges(definition, *contraction, asked);
  }

  // A map that is the only one to read an input puts what it makes of it in the new order.
  bool ReordersInput(const Node& node, TensorId operand) const {
    const Tensor& tensor = graph_.tensors[operand];
    return tensor.kind == TensorKind::kInput && tensor.consumers.size() == 1 &&
           IsMap(*node.definition) && !IsCopy(graph_, node);
  }

  // The tensor in the order that `reader` wants: itself, or one that a node before it makes of it.
  TensorId ReadIn(const DimOrder& wanted, TensorId tensor, const Node& reader) {
    if (wanted == OrderOf(orders_, tensor)) return tensor;
    const auto known = versions_.find({tensor, wanted, reader.entry});
    if (known != versions_.end()) return known->second;
    const TensorId version = NewTensor(tensor, wanted);
    AddReorder(tensor, version, reader);
    // Of a state there are two values in a step, that before it and the next one.
    if (!IsCarried(graph_.tensors[tensor])) versions_[{tensor, wanted, reader.entry}] = version;
    return version;
  }

  TensorId NewTensor(TensorId like, const DimOrder& order) {
    const TensorId id = static_cast<TensorId>(graph_.tensors.size());
    Tensor tensor;
    tensor.name = names_.Fresh(absl::StrCat("reorder(", graph_.tensors[like].name, ")"));
    tensor.type = graph_.tensors[like].type;
    tensor.dims = graph_.tensors[like].dims;
    graph_.tensors.push_back(std::move(tensor));
    plan_.tensors.push_back(plan_.tensors[like]);
    if (!order.empty()) orders_[id] = order;
    return id;
  }

  // The node that makes `to` of `from`, on account of `node`.
  void AddReorder(TensorId from, TensorId to, const Node& node) {
    Node reorder;
    reorder.name = graph_.tensors[to].name;
    reorder.op = "Reorder";
    reorder.from = node.from;
    reorder.instance = next_instance_++;
    reorder.entry = node.entry;
    reorder.definition = std::make_shared<Definition>(IdentityOf(graph_.tensors[to].type, "y"));
    reorder.operands = {from};
    reorder.result = to;
    graph_.nodes.push_back(std::move(reorder));
    plan_.nodes.push_back(plan_.tensors[to]);
  }

  Graph& graph_;
  search::Plan& plan_;
  DimOrders& orders_;      // of the tensors as they are
  const DimOrders asked_;  // in which what computes and reads them would have them
  GraphNames names_;
  int next_instance_ = 0;
  // Of a tensor in another order, in an entry.
  std::map<std::tuple<TensorId, DimOrder, int>, TensorId> versions_;
};

}  // namespace

std::vector<NodeId> AddReorders(Graph& graph, search::Plan& plan, DimOrders& orders) {
  return Reorders(graph, plan, orders).Add();
}

}  // namespace yuba::compiler
