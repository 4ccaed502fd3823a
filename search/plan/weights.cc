#include "search/plan/weights.h"

#include <algorithm>

#include "absl/container/flat_hash_set.h"

namespace yuba::search {
namespace {

// Whether the value of the operand goes into that of the expression. What conditions decide is
// which value is taken: positions and masks end there.
bool GivesValue(const Expr& expr, int operand, absl::flat_hash_set<const Expr*>& seen) {
  if (!seen.insert(&expr).second) return false;
  if (expr.kind == Expr::kRead && expr.operand == operand) return true;
  if (expr.kind != Expr::kCall) {
    return std::any_of(expr.args.begin(), expr.args.end(),
                       [&](const ExprPtr& arg) { return GivesValue(*arg, operand, seen); });
  }
  if (IsComparison(expr.function) || IsLogical(expr.function)) return false;
  const size_t first = expr.function == Function::kSelect ? 1 : 0;
  return std::any_of(expr.args.begin() + first, expr.args.end(),
                     [&](const ExprPtr& arg) { return GivesValue(*arg, operand, seen); });
}

bool MakesNumbersOf(const Graph& graph, const Node& node, TensorId id) {
  const Definition& definition = *node.definition;
  if (!IsFloat(definition.result.type) && definition.reducer != Reducer::kSum) return false;
  for (size_t o = 0; o < node.operands.size(); ++o) {
    absl::flat_hash_set<const Expr*> seen;
    if (SourceOf(graph, node.operands[o]) == id &&
        GivesValue(*definition.body, static_cast<int>(o), seen)) {
      return true;
    }
  }
  return false;
}

}  // namespace

bool IsStoredWeight(const Graph& graph, TensorId id) {
  const Tensor& tensor = graph.tensors[id];
  if (tensor.kind == TensorKind::kParameter) return true;
  if (tensor.kind != TensorKind::kConstant || tensor.type.type == ElementType::kBool ||
      ElementCount(tensor.type) <= 1) {
    return false;
  }
  const auto makes_numbers = [&](NodeId reader) {
    const Node& node = graph.nodes[reader];
    if (!IsCopy(graph, node)) return MakesNumbersOf(graph, node, id);
    const std::vector<NodeId>& readers = graph.tensors[node.result].consumers;
    return std::any_of(readers.begin(), readers.end(), [&](NodeId behind) {
      return MakesNumbersOf(graph, graph.nodes[behind], id);
    });
  };
  return std::any_of(tensor.consumers.begin(), tensor.consumers.end(), makes_numbers);
}

std::vector<bool> WeightTensors(const Graph& graph) {
  std::vector<bool> weights(graph.tensors.size());
  for (size_t t = 0; t < weights.size(); ++t) {
    weights[t] = IsStoredWeight(graph, static_cast<TensorId>(t));
  }
  const auto is_constant = [&](TensorId operand) {
    return graph.tensors[operand].kind == TensorKind::kConstant;
  };
  for (const Node& node : graph.nodes) {
    if (weights[node.result] || IsCarried(graph.tensors[node.result])) continue;
    const auto is_weight = [&](TensorId operand) { return weights[operand]; };
    weights[node.result] =
        std::any_of(node.operands.begin(), node.operands.end(), is_weight) &&
        std::all_of(node.operands.begin(), node.operands.end(),
                    [&](TensorId operand) { return weights[operand] || is_constant(operand); });
  }
  return weights;
}

}  // namespace yuba::search
