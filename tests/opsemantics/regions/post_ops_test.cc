#include "opsemantics/regions/post_ops.h"

#include "catch2/catch.hpp"
#include "opsemantics/definition/shared_terms.h"
#include "tests/opsemantics/support/definitions.h"

namespace yuba {
namespace {

const Affine i = IndexAffine(0), j = IndexAffine(1);

ExprPtr operator+(ExprPtr a, ExprPtr b) { return Call(Function::kAdd, {a, b}); }
ExprPtr operator-(ExprPtr a, ExprPtr b) { return Call(Function::kSub, {a, b}); }
ExprPtr operator*(ExprPtr a, ExprPtr b) { return Call(Function::kMul, {a, b}); }
ExprPtr Relu(ExprPtr a) { return Call(Function::kMax, {a, Number(0)}); }
ExprPtr V() { return Read(0, {i, j}); }

// A map of 4 x 6 elements of operand 0, with a row and another matrix as operands 1 and 2.
Definition MapOf(ExprPtr body) {
  Definition map = Define({4, 6}, 2, Reducer::kNone, {{4, 6}, {6}, {4, 6}}, std::move(body));
  ShareTerms(map);
  return map;
}

std::vector<PostOp::Kind> KindsOf(ExprPtr body) {
  const auto steps = MatchPostOps(MapOf(std::move(body)), 0);
  std::vector<PostOp::Kind> kinds;
  if (!steps.has_value()) return kinds;
  for (const PostOp& step : *steps) kinds.push_back(step.kind);
  return kinds;
}

using Kinds = std::vector<PostOp::Kind>;

TEST_CASE("a bias, a residual and an activation are steps, first to last") {
  const auto steps =
      MatchPostOps(MapOf(Relu(Read(2, {i, j}) + (V() + Read(1, {j})) * Number(0.5))), 0);
  REQUIRE(steps.has_value());
  REQUIRE(steps->size() == 4);
  CHECK((*steps)[0].kind == PostOp::kAdd);
  CHECK((*steps)[0].operand == 1);
  CHECK((*steps)[0].indices == std::vector<int>{1});
  CHECK((*steps)[1].kind == PostOp::kScale);
  CHECK((*steps)[1].factor == 0.5);
  CHECK((*steps)[2].kind == PostOp::kAdd);
  CHECK((*steps)[2].operand == 2);
  CHECK((*steps)[2].indices == std::vector<int>{0, 1});
  CHECK((*steps)[3].kind == PostOp::kRelu);
}

TEST_CASE("a sum is added term by term") {
  const Kinds three = {PostOp::kAdd, PostOp::kAdd, PostOp::kRelu};
  CHECK(KindsOf(Relu((Read(2, {i, j}) + Read(1, {j})) + V())) == three);
}

TEST_CASE("batch norm at inference is three steps") {
  CHECK(KindsOf((V() - Read(1, {j})) * Read(1, {j}) + Read(1, {j})) ==
        Kinds{PostOp::kSubtract, PostOp::kMultiply, PostOp::kAdd});
  // A difference the other way round is none.
  CHECK(KindsOf(Read(1, {j}) - V()).empty());
}

TEST_CASE("GELU is known in either form, however it is written and of whatever it is") {
  const double root = 0.7978845608028654;
  const auto tanh = [&](const ExprPtr& u) { return Call(Function::kTanh, {u}) + Number(1); };
  const auto erf = [&](const ExprPtr& u) { return Number(1) + Call(Function::kErf, {u}); };
  const auto cube = [](const ExprPtr& v) { return Call(Function::kPow, {v, Number(3)}); };
  const Kinds by_tanh = {PostOp::kGeluTanh}, by_erf = {PostOp::kGeluErf};
  CHECK(KindsOf(V() * Number(0.5) *
                tanh(Number(root) * (V() + Number(0.044715) * V() * V() * V()))) == by_tanh);
  CHECK(KindsOf(Number(0.5) * (V() * tanh((V() + Number(0.044715) * cube(V())) * Number(root)))) ==
        by_tanh);
  CHECK(KindsOf(Number(0.5) * V() *
                tanh(V() * Number(0.79788458) * (Number(1) + Number(0.044715) * V() * V()))) ==
        by_tanh);
  CHECK(KindsOf(V() * Number(0.5) * erf(V() * Number(0.70710678))) == by_erf);
  const ExprPtr half = Call(Function::kDiv, {V() * erf(V() * Number(0.70710678)), Number(2)});
  CHECK(KindsOf(half) == by_erf);
  const ExprPtr biased = V() + Read(1, {j});
  CHECK(KindsOf(biased * Number(0.5) * erf(biased * Number(0.7071067811865476))) ==
        Kinds{PostOp::kAdd, PostOp::kGeluErf});
  const ExprPtr scaled = V() * Read(1, {j});
  CHECK(KindsOf(scaled * Number(0.5) * erf(scaled * Number(0.7071067811865476))) ==
        Kinds{PostOp::kMultiply, PostOp::kGeluErf});
}

TEST_CASE("what only resembles a step is none") {
  const auto erf = [&](const ExprPtr& u) { return Number(1) + Call(Function::kErf, {u}); };
  CHECK(KindsOf(V() * Number(0.5) * erf(V() * Number(0.7))).empty());
  CHECK(KindsOf(V() * Number(0.4) * erf(V() * Number(0.70710678))).empty());
  CHECK(KindsOf(V() * Number(0.5) * erf(Read(2, {i, j}) * Number(0.70710678))).empty());
  CHECK(KindsOf(Call(Function::kMax, {V(), Number(1)})).empty());
  CHECK(KindsOf(V() + V() * Read(1, {j})).empty());
  CHECK(KindsOf(V() + Read(2, {j, i})).size() == 1);  // turned, but each index alone
  CHECK(KindsOf(V() + Read(2, {i, j + ConstantAffine(1)}, Number(0))).empty());
  CHECK(KindsOf(V() + Call(Function::kExp, {Read(1, {j})})).empty());
  CHECK(KindsOf(Call(Function::kExp, {V()})).empty());
  CHECK(KindsOf(Read(0, {j, i}) + Read(1, {j})).empty());
  Definition other_type = MapOf(V() + Read(1, {j}));
  CHECK(MatchPostOps(other_type, 0).has_value());
  other_type.operands[1].type = ElementType::kF16;
  CHECK_FALSE(MatchPostOps(other_type, 0).has_value());
  Definition sum = MapOf(V() + Read(1, {j}));
  sum.reducer = Reducer::kSum;
  CHECK_FALSE(MatchPostOps(sum, 0).has_value());
}

}  // namespace
}  // namespace yuba
