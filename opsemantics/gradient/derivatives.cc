#include "opsemantics/gradient/derivatives.h"

#include <cmath>

#include "opsemantics/base/check.h"
#include "opsemantics/definition/make_expr.h"
#include "opsemantics/gradient/terms.h"

namespace yuba {
namespace {

// 2 / sqrt(pi), the derivative of erf at 0.
constexpr double kErfSlope = 1.1283791670955126;

ExprPtr IsLess(const ExprPtr& a, const ExprPtr& b) {
  return CallExpr(Function::kLt, {a, b}, ElementType::kBool);
}

// d call / d x for functions of one argument; null where it is 0.
ExprPtr Slope(const ExprPtr& call) {
  const ExprPtr& x = call->args[0];
  const auto number = [&](double value) { return Number(value, x->type); };
  switch (call->function) {
    case Function::kNeg: return number(-1);
    case Function::kAbs: return Of(Function::kSign, x);
    case Function::kSq: return Product(number(2), x);
    case Function::kSqrt: return Quotient(number(0.5), call);
    case Function::kRsqrt: return Product(number(-0.5), Quotient(call, x));
    case Function::kExp: return call;
    case Function::kLog: return Quotient(number(1), x);
    case Function::kTanh: return Sum(number(1), Negated(Product(call, call)));
    case Function::kSig: return Product(call, Sum(number(1), Negated(call)));
    case Function::kErf:
      return Product(number(kErfSlope), Of(Function::kExp, Negated(Product(x, x))));
    case Function::kSin: return Of(Function::kCos, x);
    case Function::kCos: return Negated(Of(Function::kSin, x));
    default: return nullptr;
  }
}

ExprPtr IsZero(const ExprPtr& x) {
  return CallExpr(Function::kEq, {x, Number(0, x->type)}, ElementType::kBool);
}

// x^y: y * x^(y - 1) by x, and x^y * log(x) by y; 0 where y, or 0^y of y from 0 on, is a factor of
// what is perhaps infinite. 0^0 is 1, but x^y is 0 on one side of it.
std::vector<ExprPtr> OfPower(const ExprPtr& call, const ExprPtr& adjoint) {
  const ExprPtr &x = call->args[0], &y = call->args[1];
  const ExprPtr zero = Number(0, adjoint->type);
  const ExprPtr less = CallExpr(Function::kPow, {x, Sum(y, Number(-1, x->type))}, x->type);
  const ExprPtr by_base = Product(adjoint, Product(y, less));
  if (y->kind == Expr::kLiteral) return {by_base, nullptr};
  const ExprPtr by_exponent = Product(adjoint, Product(call, Of(Function::kLog, x)));
  const ExprPtr from_zero = CallExpr(Function::kLe, {Number(0, y->type), y}, ElementType::kBool);
  return {Chosen(IsZero(y), zero, by_base), Chosen(Both(IsZero(x), from_zero), zero, by_exponent)};
}

// Of equal arguments of max or min each gets half. Beside a literal the other one gets nothing.
std::vector<ExprPtr> OfExtreme(const ExprPtr& call, const ExprPtr& adjoint) {
  const ExprPtr &a = call->args[0], &b = call->args[1];
  const bool max = call->function == Function::kMax;
  const ExprPtr first = max ? IsLess(b, a) : IsLess(a, b);
  const ExprPtr second = max ? IsLess(a, b) : IsLess(b, a);
  const ExprPtr zero = Number(0, adjoint->type);
  if (b->kind == Expr::kLiteral) return {Chosen(first, adjoint, zero), nullptr};
  if (a->kind == Expr::kLiteral) return {nullptr, Chosen(second, adjoint, zero)};
  const ExprPtr half = Product(adjoint, Number(0.5, adjoint->type));
  return {Chosen(first, adjoint, Chosen(second, zero, half)),
          Chosen(second, adjoint, Chosen(first, zero, half))};
}

}  // namespace

bool HasDerivative(Function function) { return function != Function::kOpaque; }

std::vector<ExprPtr> ArgumentAdjoints(const ExprPtr& call, const ExprPtr& adjoint) {
  const std::vector<ExprPtr>& args = call->args;
  const ExprPtr zero = Number(0, adjoint->type);
  switch (call->function) {
    case Function::kAdd: return {adjoint, adjoint};
    case Function::kSub: return {adjoint, Negated(adjoint)};
    case Function::kMul: return {Product(adjoint, args[1]), Product(adjoint, args[0])};
    case Function::kDiv:
      return {Quotient(adjoint, args[1]), Negated(Product(adjoint, Quotient(call, args[1])))};
    case Function::kMod:  // x - y * trunc(x / y)
      return {adjoint, Product(adjoint, Quotient(Sum(call, Negated(args[0])), args[1]))};
    case Function::kMax:
    case Function::kMin: return OfExtreme(call, adjoint);
    case Function::kPow: return OfPower(call, adjoint);
    case Function::kSelect:
      return {nullptr, Chosen(args[0], adjoint, zero), Chosen(args[0], zero, adjoint)};
    case Function::kCast: return {CallExpr(Function::kCast, {adjoint}, args[0]->type)};
    default: break;
  }
  YUBA_CHECK(HasDerivative(call->function)) << Name(call->function);
  if (args.size() != 1) return std::vector<ExprPtr>(args.size());
  const ExprPtr slope = Slope(call);
  return {slope == nullptr ? nullptr : Product(adjoint, slope)};
}

}  // namespace yuba
