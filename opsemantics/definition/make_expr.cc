#include "opsemantics/definition/make_expr.h"

#include <memory>
#include <utility>

namespace yuba {

ExprPtr LiteralExpr(ElementType type, int64_t integer, double number) {
  auto expr = std::make_shared<Expr>();
  expr->kind = Expr::kLiteral;
  expr->type = type;
  if (IsFloat(type)) {
    expr->number = number;
  } else {
    expr->integer = integer;
  }
  return expr;
}

ExprPtr IndexExpr(Affine affine) {
  auto expr = std::make_shared<Expr>();
  expr->kind = Expr::kIndex;
  expr->type = ElementType::kI64;
  expr->affine = std::move(affine);
  return expr;
}

ExprPtr ReadExpr(int operand, std::vector<Affine> position, ElementType type, ExprPtr outside) {
  auto expr = std::make_shared<Expr>();
  expr->kind = Expr::kRead;
  expr->type = type;
  expr->operand = operand;
  expr->position = std::move(position);
  if (outside != nullptr) expr->args.push_back(std::move(outside));
  return expr;
}

ExprPtr CallExpr(Function function, std::vector<ExprPtr> args, ElementType type) {
  auto expr = std::make_shared<Expr>();
  expr->kind = Expr::kCall;
  expr->type = type;
  expr->function = function;
  expr->args = std::move(args);
  return expr;
}

}  // namespace yuba
