// Linearity: which operands may hold unreduced partials through a body.
#include "opsemantics/definition/linear.h"

#include "catch2/catch.hpp"
#include "tests/opsemantics/support/definitions.h"

namespace yuba {
namespace {

const Affine i = IndexAffine(0), j = IndexAffine(1);
const ExprPtr a = Read(0, {i, j}), b = Read(1, {i, j}), c = Read(2, {i, j});

// y[i] = reducer(j) body, of three matrices.
Definition Body(ExprPtr body, Reducer reducer = Reducer::kSum) {
  return Define({3, 4}, 1, reducer, {{3, 4}, {3, 4}, {3, 4}}, std::move(body));
}
ExprPtr Of(Function function, std::vector<ExprPtr> args) { return Call(function, std::move(args)); }

TEST_CASE("sums of terms with one factor each are linear in these factors") {
  const ExprPtr product = Of(Function::kMul, {a, b});
  CHECK(IsLinearIn(Body(product), {0}));
  CHECK(IsLinearIn(Body(product), {1}));
  CHECK_FALSE(IsLinearIn(Body(product), {0, 1}));
  CHECK_FALSE(IsLinearIn(Body(product), {2}));  // the body does not depend on operand 2
  CHECK_FALSE(IsLinearIn(Body(Of(Function::kMul, {a, a})), {0}));
  const ExprPtr sum = Of(Function::kSub, {product, Of(Function::kNeg, {c})});
  CHECK(IsLinearIn(Body(sum), {0, 2}));
  CHECK(IsLinearIn(Body(sum), {1, 2}));
  CHECK_FALSE(IsLinearIn(Body(sum), {2}));  // each group would add the product
  CHECK_FALSE(IsLinearIn(Body(sum), {0, 1, 2}));
}

TEST_CASE("other functions, reducers and conditions are not linear") {
  CHECK(IsLinearIn(Body(Of(Function::kDiv, {a, b})), {0}));
  CHECK_FALSE(IsLinearIn(Body(Of(Function::kDiv, {a, b})), {1}));
  CHECK_FALSE(IsLinearIn(Body(Of(Function::kMax, {a, Number(0)})), {0}));
  CHECK(IsLinearIn(Body(Of(Function::kMul, {a, Of(Function::kExp, {b})})), {0}));
  CHECK_FALSE(IsLinearIn(Body(Of(Function::kMul, {a, Of(Function::kExp, {b})})), {1}));
  CHECK_FALSE(IsLinearIn(Body(a, Reducer::kMax), {0}));
  const ExprPtr positive = Of(Function::kLt, {Number(0), b});
  CHECK(IsLinearIn(Body(Of(Function::kSelect, {positive, a, Number(0)})), {0}));
  CHECK_FALSE(IsLinearIn(Body(Of(Function::kSelect, {positive, a, Number(1)})), {0}));
  CHECK_FALSE(IsLinearIn(Body(Of(Function::kSelect, {positive, a, Number(0)})), {0, 1}));
  Definition where = Body(a);
  where.data_where.push_back({j, Function::kEq, false, Read(1, {i, j})});
  CHECK(IsLinearIn(where, {0}));
  where.data_where[0].value = a;
  CHECK_FALSE(IsLinearIn(where, {0}));
}

TEST_CASE("what is read outside a tensor is 0, or the body is not linear") {
  CHECK(IsLinearIn(Body(Read(0, {i, j - i}, Number(0))), {0}));
  CHECK_FALSE(IsLinearIn(Body(Read(0, {i, j - i}, Number(1))), {0}));
  CHECK_FALSE(IsLinearIn(Body(Of(Function::kAdd, {a, Number(1)})), {0}));
}

TEST_CASE("groups are numbered by a last index of a reduction that nothing runs through") {
  Definition definition = Body(a);
  CHECK_FALSE(NumbersGroups(definition));  // reads run through j
  definition.indices.push_back({"group", kMostGroups, true});
  CHECK(NumbersGroups(definition));
  const Affine group = IndexAffine(2);
  Definition other = definition;
  other.indices[2].extent = 8;
  CHECK_FALSE(NumbersGroups(other));
  other = definition;
  other.indices[2].reduction = false;
  CHECK_FALSE(NumbersGroups(other));
  other = definition;
  other.left[0] = group;
  CHECK_FALSE(NumbersGroups(other));
  other = definition;
  other.where.push_back({group - i});
  CHECK_FALSE(NumbersGroups(other));
  other = definition;
  other.data_where.push_back({group, Function::kEq, false, Read(1, {i, j})});
  CHECK_FALSE(NumbersGroups(other));
  other = definition;
  other.body = Of(Function::kMul, {a, Read(1, {i, group})});
  CHECK_FALSE(NumbersGroups(other));
  other.indices.clear();
  CHECK_FALSE(NumbersGroups(other));
}

}  // namespace
}  // namespace yuba
