#include "opsemantics/gradient/terms.h"

#include "opsemantics/definition/make_expr.h"

namespace yuba {
namespace {

// The type of a term that this room makes or takes: what descriptions made says its type too.
ElementType FloatTypeOf(const Expr& a, const Expr& b) { return IsFloat(a.type) ? a.type : b.type; }

}  // namespace

bool IsCallOf(const Expr& term, Function function) {
  return term.kind == Expr::kCall && term.function == function;
}

ExprPtr Number(double value, ElementType type) {
  return LiteralExpr(type, static_cast<int64_t>(value), value);
}

bool IsNumber(const Expr& term, double value) {
  return term.kind == Expr::kLiteral &&
         (IsFloat(term.type) ? term.number == value : static_cast<double>(term.integer) == value);
}

ExprPtr Sum(const ExprPtr& a, const ExprPtr& b) {
  if (IsNumber(*a, 0)) return b;
  if (IsNumber(*b, 0)) return a;
  return CallExpr(Function::kAdd, {a, b}, FloatTypeOf(*a, *b));
}

ExprPtr Negated(const ExprPtr& a) {
  if (a->kind == Expr::kLiteral) return Number(-a->number, a->type);
  if (IsCallOf(*a, Function::kNeg)) return a->args[0];
  return CallExpr(Function::kNeg, {a}, a->type);
}

ExprPtr Product(const ExprPtr& a, const ExprPtr& b) {
  const ElementType type = FloatTypeOf(*a, *b);
  if (IsNumber(*a, 0) || IsNumber(*b, 0)) return Number(0, type);
  if (IsNumber(*a, 1)) return b;
  if (IsNumber(*b, 1)) return a;
  for (const auto& [chosen, other] : {std::make_pair(a, b), std::make_pair(b, a)}) {
    if (!IsCallOf(*chosen, Function::kSelect)) continue;
    const bool first = IsNumber(*chosen->args[2], 0), second = IsNumber(*chosen->args[1], 0);
    if (!first && !second) continue;
    return Chosen(chosen->args[0], Product(chosen->args[1], other),
                  Product(chosen->args[2], other));
  }
  if (IsCallOf(*a, Function::kNeg)) return Negated(Product(a->args[0], b));
  if (IsCallOf(*b, Function::kNeg)) return Negated(Product(a, b->args[0]));
  return CallExpr(Function::kMul, {a, b}, type);
}

ExprPtr Quotient(const ExprPtr& a, const ExprPtr& b) {
  const ElementType type = FloatTypeOf(*a, *b);
  if (IsNumber(*a, 0)) return Number(0, type);
  if (IsNumber(*b, 1)) return a;
  return CallExpr(Function::kDiv, {a, b}, type);
}

ExprPtr Chosen(const ExprPtr& condition, const ExprPtr& a, const ExprPtr& b) {
  if (IsNumber(*a, 0) && IsNumber(*b, 0)) return a;
  if (condition == nullptr) return a;
  return CallExpr(Function::kSelect, {condition, a, b}, FloatTypeOf(*a, *b));
}

ExprPtr Of(Function function, const ExprPtr& a) { return CallExpr(function, {a}, a->type); }

ExprPtr Both(const ExprPtr& a, const ExprPtr& b) {
  if (a == nullptr) return b;
  if (b == nullptr) return a;
  return CallExpr(Function::kAnd, {a, b}, ElementType::kBool);
}

ExprPtr ConditionOf(const Constraint& constraint) {
  Affine left = constraint.expression;
  const int64_t right = -left.constant;
  left.constant = 0;
  return CallExpr(constraint.equality ? Function::kEq : Function::kLe,
                  {IndexExpr(std::move(left)), LiteralExpr(ElementType::kI64, right, 0)},
                  ElementType::kBool);
}

}  // namespace yuba
