#include "compiler/attention/known_masks.h"

#include "absl/types/optional.h"
#include "compiler/simplify/known_values.h"
#include "opsemantics/definition/make_expr.h"
#include "opsemantics/oracle/scalar.h"

namespace yuba::compiler {
namespace {

constexpr int64_t kMostElements = int64_t{1} << 22;

// The offset for which table[a, b] is b <= a + offset; the table is row-major, and `turned` says
// that b is its first index. nullopt where there is none.
absl::optional<int64_t> OffsetOf(const ValueTable& table, bool turned) {
  const int64_t rows = table.extents[turned ? 1 : 0], columns = table.extents[turned ? 0 : 1];
  const auto at = [&](int64_t a, int64_t b) {
    return table.values[turned ? b * rows + a : a * columns + b] != 0;
  };
  int64_t seen = 0;  // by the first row
  while (seen < columns && at(0, seen)) ++seen;
  const int64_t offset = seen - 1;
  for (int64_t a = 0; a < rows; ++a) {
    for (int64_t b = 0; b < columns; ++b) {
      if (at(a, b) != (b <= a + offset)) return absl::nullopt;
    }
  }
  return offset;
}

ExprPtr ConditionOf(ValueTable table) {
  if (table.indices.size() != 2) return nullptr;
  for (const bool holds : {true, false}) {
    for (const bool turned : {false, true}) {
      const absl::optional<int64_t> offset = OffsetOf(table, turned);
      if (!offset.has_value()) continue;
      const int a = table.indices[turned ? 1 : 0], b = table.indices[turned ? 0 : 1];
      ExprPtr condition =
          CallExpr(Function::kLe,
                   {IndexExpr(IndexAffine(b)), IndexExpr(IndexAffine(a) + ConstantAffine(*offset))},
                   ElementType::kBool);
      if (holds) return condition;
      return CallExpr(Function::kNot, {std::move(condition)}, ElementType::kBool);
    }
    for (int64_t& value : table.values) value = value == 0 ? 1 : 0;
  }
  return nullptr;
}

}  // namespace

ExprPtr KnownMasks::Of(NodeId id, const ExprPtr& condition) {
  const Node& node = model_.graph.nodes[id];
  std::vector<int64_t> key;
  const auto add = [&](const Affine& affine) {
    key.push_back(affine.constant);
    for (const auto& [index, factor] : affine.terms) {
      key.push_back(index);
      key.push_back(factor);
      key.push_back(node.definition->indices[index].extent);
    }
    key.push_back(-1);
  };
  bool floats = false;
  Walk(condition, [&](const Expr& expr) {
    floats |= expr.kind == Expr::kLiteral && IsFloat(expr.type);
    key.push_back(expr.kind);
    key.push_back(static_cast<int64_t>(expr.function));
    key.push_back(expr.integer);
    key.push_back(expr.kind == Expr::kRead ? node.operands[expr.operand] : -1);
    add(expr.affine);
    for (const Affine& affine : expr.position) add(affine);
  });
  if (floats) return nullptr;
  const auto [known, is_new] = known_.try_emplace(std::move(key));
  if (!is_new) return known->second;
  const auto table =
      KnownValues(model_, node, kMostElements, true).Of(condition, Arithmetic::kFloat);
  if (table.has_value()) known->second = ConditionOf(*table);
  return known->second;
}

}  // namespace yuba::compiler
