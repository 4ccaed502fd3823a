#include "opsemantics/regions/structure.h"

#include <limits>

namespace yuba {
namespace {

// [index]: the dimension of a position that is this index alone, or -1.
using Dims = std::vector<int>;

// The Dims of a position in which every dimension is a bare index, each index at most once, or is 0
// where the extent is 1; else nullopt.
absl::optional<Dims> BareDims(const std::vector<Affine>& position, const TensorType& type,
                              size_t indices) {
  Dims dims(indices, -1);
  for (size_t d = 0; d < position.size(); ++d) {
    if (position[d] == Affine() && type.dims[d] == 1) continue;
    const int index = position[d].BareIndex();
    if (index < 0 || dims[index] >= 0) return absl::nullopt;
    dims[index] = d;
  }
  return dims;
}

bool IsRead(const Expr& expr) { return expr.kind == Expr::kRead; }
bool IsPlainRead(const Expr& expr) { return IsRead(expr) && expr.args.empty(); }

bool IsCallOf(const Expr& expr, Function function) {
  return expr.kind == Expr::kCall && expr.function == function;
}

// The first output index, in the order of the result, that `own` has and `other` does not.
int FirstOwn(const Definition& definition, const Dims& own, const Dims& other) {
  for (size_t i = 0; i < definition.indices.size(); ++i) {
    if (!definition.indices[i].reduction && own[i] >= 0 && other[i] < 0) return i;
  }
  return std::numeric_limits<int>::max();
}

}  // namespace

absl::Span<const ExprPtr> FactorsOf(const Definition& definition) {
  if (definition.reducer != Reducer::kSum || !definition.data_where.empty()) return {};
  const Expr* product = definition.body.get();
  if (IsCallOf(*product, Function::kCast)) {
    const Expr& inner = *product->args[0];
    if (!IsFloat(inner.type) || AccumulatorType(inner.type) != product->type) return {};
    product = &inner;
  }
  if (!IsCallOf(*product, Function::kMul)) return {};
  const bool reads = IsRead(*product->args[0]) && IsRead(*product->args[1]);
  return reads ? absl::MakeConstSpan(product->args) : absl::Span<const ExprPtr>();
}

absl::optional<Contraction> MatchContraction(const Definition& definition) {
  const absl::Span<const ExprPtr> factors = FactorsOf(definition);
  if (factors.empty() || !definition.where.empty()) return absl::nullopt;
  const Expr* left = factors[0].get();
  const Expr* right = factors[1].get();
  if (!IsPlainRead(*left) || !IsPlainRead(*right)) return absl::nullopt;
  const size_t count = definition.indices.size();
  auto left_dims = BareDims(left->position, definition.operands[left->operand], count);
  auto right_dims = BareDims(right->position, definition.operands[right->operand], count);
  const auto result = BareDims(definition.left, definition.result, count);
  if (!left_dims.has_value() || !right_dims.has_value() || !result.has_value())
    return absl::nullopt;
  if (FirstOwn(definition, *right_dims, *left_dims) <
      FirstOwn(definition, *left_dims, *right_dims)) {
    std::swap(left, right);
    std::swap(left_dims, right_dims);
  }
  Contraction contraction;
  contraction.left = left->operand;
  contraction.right = right->operand;
  for (size_t i = 0; i < count; ++i) {
    const bool in_left = (*left_dims)[i] >= 0, in_right = (*right_dims)[i] >= 0;
    if (definition.indices[i].reduction ? !in_left || !in_right : !in_left && !in_right) {
      return absl::nullopt;
    }
    (definition.indices[i].reduction ? contraction.inner
     : in_left && in_right           ? contraction.batch
     : in_left                       ? contraction.rows
                                     : contraction.columns)
        .push_back(i);
  }
  if (contraction.inner.empty()) return absl::nullopt;
  return contraction;
}

bool IsMap(const Definition& definition) { return definition.reducer == Reducer::kNone; }

absl::optional<std::vector<int>> MatchView(const Definition& definition) {
  const Expr& body = *definition.body;
  if (!IsMap(definition) || !IsPlainRead(body)) return absl::nullopt;
  const TensorType& operand = definition.operands[body.operand];
  if (operand.type != definition.result.type) return absl::nullopt;
  const size_t count = definition.indices.size();
  const auto source = BareDims(body.position, operand, count);
  const auto result = BareDims(definition.left, definition.result, count);
  if (!source.has_value() || !result.has_value()) return absl::nullopt;
  std::vector<int> view(definition.left.size(), -1);
  for (size_t i = 0; i < count; ++i) {
    const int from = (*source)[i], to = (*result)[i];
    const int64_t extent = definition.indices[i].extent;
    if (extent == 1 && from < 0) continue;
    if (from < 0 || to < 0 || operand.dims[from] != extent) return absl::nullopt;
    view[to] = from;
  }
  return view;
}

}  // namespace yuba
