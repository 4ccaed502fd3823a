#include "opsemantics/gradient/derivatives.h"

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

ExprPtr IsZero(const ExprPtr& x) {
  return CallExpr(Function::kEq, {x, Number(0, x->type)}, ElementType::kBool);
}

// x^y: y * x^(y - 1) by x, and x^y * log(x) by y; 0 where y, or 0^y of y from 0 on, is a factor of
// what is perhaps infinite. 0^0 is 1, but x^y is 0 on one side of it.
std::vector<ExprPtr> OfPower(const ExprPtr& call, const ExprPtr& value, const ExprPtr& adjoint) {
  const ExprPtr &x = call->args[0], &y = call->args[1];
  const ExprPtr zero = Number(0, adjoint->type);
  const ExprPtr less = CallExpr(Function::kPow, {x, Sum(y, Number(-1, x->type))}, x->type);
  const ExprPtr by_base = Product(adjoint, Product(y, less));
  if (y->kind == Expr::kLiteral) return {by_base, nullptr};
  const ExprPtr by_exponent = Product(adjoint, Product(value, Of(Function::kLog, x)));
  const ExprPtr from_zero = CallExpr(Function::kLe, {Number(0, y->type), y}, ElementType::kBool);
  return {Chosen(IsZero(y), zero, by_base), Chosen(Both(IsZero(x), from_zero), zero, by_exponent)};
}

// Of equal arguments of max or min each gets half. Beside a literal the other one gets nothing; the
// extreme is beyond the literal where the other one is, and a NaN is where that is one.
std::vector<ExprPtr> OfExtreme(const ExprPtr& call, const ExprPtr& value, const ExprPtr& adjoint) {
  const ExprPtr &a = call->args[0], &b = call->args[1];
  const bool max = call->function == Function::kMax;
  const ExprPtr zero = Number(0, adjoint->type);
  for (const int literal : {1, 0}) {
    const ExprPtr &bound = call->args[literal], &other = call->args[1 - literal];
    if (bound->kind != Expr::kLiteral) continue;
    const ExprPtr& seen = value == call ? other : value;
    std::vector<ExprPtr> adjoints(2);
    adjoints[1 - literal] = Chosen(max ? IsLess(bound, seen) : IsLess(seen, bound), adjoint, zero);
    return adjoints;
  }
  const ExprPtr first = max ? IsLess(b, a) : IsLess(a, b);
  const ExprPtr second = max ? IsLess(a, b) : IsLess(b, a);
  const ExprPtr half = Product(adjoint, Number(0.5, adjoint->type));
  return {Chosen(first, adjoint, Chosen(second, zero, half)),
          Chosen(second, adjoint, Chosen(first, zero, half))};
}

}  // namespace

bool HasDerivative(Function function) { return function != Function::kOpaque; }

std::vector<ExprPtr> ArgumentAdjoints(const ExprPtr& call, const ExprPtr& value,
                                      const ExprPtr& adjoint) {
  const std::vector<ExprPtr>& args = call->args;
  const ExprPtr& x = args[0];
  const ExprPtr zero = Number(0, adjoint->type);
  const auto number = [&](double n) { return Number(n, x->type); };
  const auto along = [&](const ExprPtr& slope) -> std::vector<ExprPtr> {
    return {Product(adjoint, slope)};
  };
  switch (call->function) {
    case Function::kAdd: return {adjoint, adjoint};
    case Function::kSub: return {adjoint, Negated(adjoint)};
    case Function::kMul: return {Product(adjoint, args[1]), Product(adjoint, x)};
    case Function::kDiv:
      return {Quotient(adjoint, args[1]), Negated(Product(adjoint, Quotient(value, args[1])))};
    case Function::kMod:  // x - y * trunc(x / y)
      return {adjoint, Product(adjoint, Quotient(Sum(value, Negated(x)), args[1]))};
    case Function::kMax:
    case Function::kMin: return OfExtreme(call, value, adjoint);
    case Function::kPow: return OfPower(call, value, adjoint);
    case Function::kSelect: return {nullptr, Chosen(x, adjoint, zero), Chosen(x, zero, adjoint)};
    case Function::kCast: return {CallExpr(Function::kCast, {adjoint}, x->type)};
    case Function::kNeg: return along(number(-1));
    case Function::kAbs: return along(Of(Function::kSign, x));
    case Function::kSq: return along(Product(number(2), x));
    case Function::kSqrt: return along(Quotient(number(0.5), value));
    case Function::kRsqrt: return along(Product(number(-0.5), Quotient(value, x)));
    case Function::kExp: return along(value);
    case Function::kLog: return along(Quotient(number(1), x));
    case Function::kTanh: return along(Sum(number(1), Negated(Product(value, value))));
    case Function::kSig: return along(Product(value, Sum(number(1), Negated(value))));
    case Function::kErf:
      return along(Product(number(kErfSlope), Of(Function::kExp, Negated(Product(x, x)))));
    case Function::kSin: return along(Of(Function::kCos, x));
    case Function::kCos: return along(Negated(Of(Function::kSin, x)));
    case Function::kSign:
    case Function::kFloor:
    case Function::kCeil:
    case Function::kRound:
    case Function::kWrap:
    case Function::kLabel:
    case Function::kEq:
    case Function::kNe:
    case Function::kLt:
    case Function::kLe:
    case Function::kAnd:
    case Function::kOr:
    case Function::kNot:
    case Function::kRandom: return std::vector<ExprPtr>(args.size());
    case Function::kOpaque: break;
  }
  YUBA_CHECK(false) << Name(call->function) << " has no derivative";
  return {};
}

}  // namespace yuba
