#include "search/baselines/vocabulary.h"

#include <algorithm>

#include "opsemantics/regions/along.h"

namespace yuba::search {
namespace {

// Whether numbers that are no weights say where index `index` is.
bool IsLookedUp(const Node& node, const std::vector<bool>& weights, int index) {
  for (const DataCondition& condition : node.definition->data_where) {
    if (condition.index.BareIndex() != index || condition.compare != Function::kEq ||
        condition.table != nullptr) {
      continue;
    }
    bool given = false;
    Walk(condition.value, [&](const Expr& expr) {
      given |= expr.kind == Expr::kRead && !weights[node.operands[expr.operand]];
    });
    if (given) return true;
  }
  return false;
}

}  // namespace

int64_t VocabularyOf(const Graph& graph, const std::vector<bool>& weights) {
  int64_t longest = 0;
  for (const Node& node : graph.nodes) {
    if (node.definition->data_where.empty()) continue;
    for (size_t o = 0; o < node.operands.size(); ++o) {
      const TensorType& table = node.definition->operands[o];
      if (!weights[node.operands[o]] || table.dims.size() != 2) continue;
      const int row = IndicesAlong(*node.definition, static_cast<int>(o))[0];
      if (row >= 0 && IsLookedUp(node, weights, row)) longest = std::max(longest, table.dims[0]);
    }
  }
  return longest;
}

std::vector<bool> VocabularyIndices(const Definition& definition, int64_t vocabulary) {
  std::vector<bool> indices(definition.indices.size(), false);
  for (const DataCondition& condition : definition.data_where) {
    const int index = condition.index.BareIndex();
    if (index < 0 || condition.compare != Function::kEq || condition.table != nullptr) continue;
    indices[index] = definition.indices[index].extent == vocabulary;
  }
  return indices;
}

}  // namespace yuba::search
