// Slopes of GELU are steps behind products, however GELU and its gradient are written.
#include "opsemantics/gradient/slopes.h"

#include "catch2/catch.hpp"
#include "opsemantics/definition/edit.h"
#include "opsemantics/gradient/gradient.h"
#include "tests/opsemantics/support/definitions.h"

namespace yuba {
namespace {

const Affine i = IndexAffine(0), j = IndexAffine(1);

ExprPtr operator+(ExprPtr a, ExprPtr b) { return Call(Function::kAdd, {a, b}); }
ExprPtr operator*(ExprPtr a, ExprPtr b) { return Call(Function::kMul, {a, b}); }

// Of 4 x 6 elements of operand 0.
Definition MapOf(const ExprPtr& body) { return Define({4, 6}, 2, Reducer::kNone, {{4, 6}}, body); }

// GELU by tanh of the cubic that is given, in three ways.
std::vector<ExprPtr> Activations(const ExprPtr& x, const ExprPtr& cubic) {
  const ExprPtr half = Number(0.5), more = Call(Function::kTanh, {cubic}) + Number(1);
  return {x * half * more, half * x * more, half * (x * more)};
}

std::vector<ExprPtr> Cubics(const ExprPtr& x) {
  const ExprPtr root = Number(0.7978845608028654), small = Number(0.044715);
  return {root * (x + small * Call(Function::kPow, {x, Number(3)})), (x + x * x * x * small) * root,
          root * x * (Number(1) + small * (x * x))};
}

// The gradient of the activation of operand 0, with operand 0 where it is read and operand 1 for
// the gradient of its result.
Definition GradientOfActivation(const ExprPtr& activation) {
  const auto gradient = GradientOf(MapOf(activation), {true});
  REQUIRE(gradient.ok());
  REQUIRE(gradient->shares.size() == 1);
  Definition definition = gradient->shares[0].definition;
  REQUIRE(gradient->shares[0].sources.size() == 2);
  return definition;
}

int OperandOfResult(const ExprPtr& activation) {
  const auto gradient = GradientOf(MapOf(activation), {true});
  return gradient->shares[0].sources[0] == 1 ? 0 : 1;
}

// With the arguments of what is added and multiplied the other way round.
ExprPtr Turned(const ExprPtr& expr) {
  auto turned = std::make_shared<Expr>(*expr);
  for (ExprPtr& arg : turned->args) arg = Turned(arg);
  if (turned->kind == Expr::kCall &&
      (turned->function == Function::kAdd || turned->function == Function::kMul))
    std::swap(turned->args[0], turned->args[1]);
  return turned;
}

TEST_CASE("the gradient of GELU by tanh is its slope, whatever the form and the order") {
  const ExprPtr x = Read(0, {i, j});
  for (const ExprPtr& cubic : Cubics(x)) {
    for (const ExprPtr& activation : Activations(x, cubic)) {
      Definition map = GradientOfActivation(activation);
      const int value = OperandOfResult(activation);
      for (const bool turned : {false, true}) {
        if (turned) map.body = Turned(map.body);
        INFO(ToString(map));
        const auto steps = MatchPostOpsAndSlopes(map, value);
        REQUIRE(steps.has_value());
        REQUIRE(steps->size() == 1);
        CHECK((*steps)[0].kind == PostOp::kGeluTanhSlope);
        CHECK((*steps)[0].operand == 1 - value);
        CHECK((*steps)[0].indices == std::vector<int>{0, 1});
        CHECK_FALSE(MatchPostOpsAndSlopes(map, 1 - value).has_value());
      }
    }
  }
}

TEST_CASE("what is nearly a slope is none") {
  const ExprPtr x = Read(0, {i, j});
  const ExprPtr activation = Activations(x, Cubics(x)[0])[0];
  const int value = OperandOfResult(activation);
  const Definition slope = GradientOfActivation(activation);
  const auto matches = [&](const ExprPtr& body) {
    Definition map = slope;
    map.body = body;
    return MatchPostOpsAndSlopes(map, value).has_value();
  };
  CHECK(matches(slope.body));
  CHECK_FALSE(matches(slope.body + Read(value, {i, j})));
  CHECK_FALSE(matches(slope.body * Number(2)));
  // Another number somewhere in it.
  const std::function<ExprPtr(const ExprPtr&)> other = [&](const ExprPtr& expr) -> ExprPtr {
    if (expr->kind == Expr::kLiteral && expr->number == 0.044715) return Number(0.05);
    auto copy = std::make_shared<Expr>(*expr);
    for (ExprPtr& arg : copy->args) arg = other(arg);
    return copy;
  };
  CHECK_FALSE(matches(other(slope.body)));
  // The gradient of another activation that has a tanh.
  const Definition tanh = GradientOfActivation(x * Call(Function::kTanh, {x}));
  CHECK_FALSE(MatchPostOpsAndSlopes(tanh, 0).has_value());
  CHECK_FALSE(MatchPostOpsAndSlopes(tanh, 1).has_value());
  // Steps of other kinds are what they were.
  Definition scaled = slope;
  scaled.body = Read(0, {i, j}) * Read(1, {i, j});
  REQUIRE(MatchPostOpsAndSlopes(scaled, 0).has_value());
  CHECK((*MatchPostOpsAndSlopes(scaled, 0))[0].kind == PostOp::kMultiply);
}

}  // namespace
}  // namespace yuba
