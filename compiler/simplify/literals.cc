// ReplaceLiterals of simplify.h.
#include <algorithm>
#include <cstring>

#include "compiler/simplify/constants.h"
#include "compiler/simplify/simplify.h"
#include "opsemantics/base/file_range.h"
#include "opsemantics/definition/edit.h"
#include "opsemantics/definition/make_expr.h"
#include "opsemantics/definition/opaque.h"
#include "opsemantics/definition/shared_terms.h"
#include "opsemantics/regions/structure.h"

namespace yuba::compiler {
namespace {

// The bytes of the element of `size` bytes that all elements of the range equal; empty where they
// differ, and where they cannot be read. It reads as far as they are equal.
std::string UniformElementIn(const FileRange& range, int64_t size) {
  const absl::StatusOr<RangeReader> reader = RangeReader::Open(range);
  if (!reader.ok() || reader->length() == 0) return "";
  constexpr int64_t kPiece = 1 << 16;  // bytes; a multiple of every element's size
  std::string element, piece;
  for (int64_t at = 0; at < reader->length(); at += kPiece) {
    piece.resize(static_cast<size_t>(std::min(kPiece, reader->length() - at)));
    const auto count = static_cast<int64_t>(piece.size());
    if (!reader->Read(at, count, piece.data()).ok()) return "";
    if (at == 0) element = piece.substr(0, static_cast<size_t>(size));
    for (int64_t e = 0; e < count; e += size) {
      if (piece.compare(static_cast<size_t>(e), element.size(), element) != 0) return "";
    }
  }
  return element;
}

// The bytes of the element that all elements of a constant equal; empty where they differ.
std::string UniformElement(const Tensor& tensor, const InitialValue& value) {
  if (value.kind == InitialValue::kFile) {
    const std::string element = UniformElementIn(value.range, ByteSize(tensor.type.type));
    const bool odd = tensor.type.type == ElementType::kBool && element > std::string(1, '\1');
    return odd ? "" : element;
  }
  if (value.data == nullptr) return "";
  if (value.kind == InitialValue::kFill) return *value.data;
  if (value.kind != InitialValue::kData || value.data->empty()) return "";
  const size_t size = ByteSize(tensor.type.type);
  for (size_t at = size; at < value.data->size(); at += size) {
    if (std::memcmp(value.data->data(), value.data->data() + at, size) != 0) return "";
  }
  return value.data->substr(0, size);
}

ExprPtr LiteralOf(ElementType type, const std::string& bytes) {
  const TensorValue value = ValueFromBytes(type, {}, bytes);
  return LiteralExpr(type, value.elements[0].integer, value.elements[0].number);
}

bool IsNumber(const ExprPtr& expr, double number) {
  return expr->kind == Expr::kLiteral && IsFloat(expr->type) && expr->number == number;
}

// `expr`, or an exact equivalent that is simpler because an argument is a literal.
ExprPtr SimplifyCall(const ExprPtr& expr) {
  if (expr->kind != Expr::kCall || !IsFloat(expr->type)) return expr;
  if (expr->function == Function::kPow) {
    if (IsNumber(expr->args[1], 2)) return CallExpr(Function::kSq, {expr->args[0]}, expr->type);
    if (IsNumber(expr->args[1], 1)) return expr->args[0];
    if (IsNumber(expr->args[1], 0.5)) return CallExpr(Function::kSqrt, {expr->args[0]}, expr->type);
  }
  if (expr->function == Function::kMul) {
    if (IsNumber(expr->args[0], 1)) return expr->args[1];
    if (IsNumber(expr->args[1], 1)) return expr->args[0];
  }
  if (expr->function == Function::kDiv && IsNumber(expr->args[1], 1)) return expr->args[0];
  return expr;
}

ExprPtr Simplify(const ExprPtr& expr, PerTerm<ExprPtr>& simplified) {
  return simplified.Of(expr, [&]() -> ExprPtr {
    std::vector<ExprPtr> args;
    for (const ExprPtr& arg : expr->args) args.push_back(Simplify(arg, simplified));
    if (args == expr->args) return SimplifyCall(expr);
    auto copy = std::make_shared<Expr>(*expr);
    copy->args = std::move(args);
    return SimplifyCall(copy);
  });
}

// Whether no read of the operand has an `else`: such a read may give the `else` value instead of an
// element, so it cannot become a literal.
bool ReadsAreInside(const Definition& definition, int operand) {
  bool inside = true;
  VisitReads(definition, operand, [&inside](const Expr& read) { inside &= read.args.empty(); });
  return inside;
}

}  // namespace

void ReplaceLiterals(Model& model) {
  Graph& graph = model.graph;
  std::vector<ExprPtr> literals(graph.tensors.size());
  for (size_t t = 0; t < graph.tensors.size(); ++t) {
    const Tensor& tensor = graph.tensors[t];
    if (tensor.kind != TensorKind::kConstant) continue;
    const std::string element = UniformElement(tensor, model.values[static_cast<TensorId>(t)]);
    if (!element.empty()) literals[t] = LiteralOf(tensor.type.type, element);
  }
  for (Node& node : graph.nodes) {
    Definition definition = *node.definition;
    // A fill of many elements stays an operand where it takes part in a reduction, which is then
    // still the contraction that it was.
    const bool map = IsMap(definition), opaque = IsOpaque(definition);
    std::vector<ExprPtr> replaced(node.operands.size());
    for (size_t k = 0; k < node.operands.size(); ++k) {
      const bool one = ElementCount(definition.operands[k]) == 1;
      if ((one || map) && !opaque && ReadsAreInside(definition, static_cast<int>(k)))
        replaced[k] = literals[node.operands[k]];
    }
    RewriteReads(definition, [&replaced](const Expr& read) { return replaced[read.operand]; });
    PerTerm<ExprPtr> simplified;
    definition.body = Simplify(definition.body, simplified);
    NormalizeOperands(node.operands, definition);
    ShareTerms(definition);
    node.definition = std::make_shared<const Definition>(std::move(definition));
  }
  Link(graph);
}

}  // namespace yuba::compiler
