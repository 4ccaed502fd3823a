#include "opsemantics/definition/definition.h"

#include <limits>

#include "catch2/catch.hpp"
#include "tests/opsemantics/support/definitions.h"

namespace yuba {
namespace {

Definition Convolution() {
  Definition definition;
  definition.name = "y";
  definition.indices = {{"o", 8, false}, {"p", 5, false}, {"u", 3, true}};
  definition.operands = {{ElementType::kF32, {10}}, {ElementType::kF32, {8, 3}}};
  definition.result = {ElementType::kF32, {8, 5}};
  definition.left = {IndexAffine(0), IndexAffine(1)};
  definition.reducer = Reducer::kSum;
  definition.body =
      Call(Function::kMul,
           {Read(0, {IndexAffine(1) * 2 + IndexAffine(2) - ConstantAffine(1)}, Number(0)),
            Read(1, {IndexAffine(0), IndexAffine(2)})});
  return definition;
}

TEST_CASE("affine expressions add, scale and cancel") {
  const Affine i = IndexAffine(0), j = IndexAffine(3);
  const Affine sum = j * 2 + i + ConstantAffine(7);
  CHECK(sum.terms == std::vector<std::pair<int, int64_t>>{{0, 1}, {3, 2}});
  CHECK((sum - j * 2).terms == std::vector<std::pair<int, int64_t>>{{0, 1}});
  CHECK(sum - sum == Affine());
  CHECK(sum * 0 == Affine());
  CHECK(Evaluate(sum, {1, 0, 0, 10}) == 28);
  CHECK(i.BareIndex() == 0);
  CHECK((i * 2).BareIndex() == -1);
  CHECK((i + ConstantAffine(1)).BareIndex() == -1);
  CHECK(ConstantAffine(3).BareIndex() == -1);
}

TEST_CASE("the range of an affine expression is its least and greatest value") {
  const Affine expression = IndexAffine(0) * 2 - IndexAffine(1) + ConstantAffine(1);
  CHECK(Range(expression, {{0, 3}, {2, 6}}) == Interval{-4, 4});
  CHECK(Range(expression, {{0, 3}, {2, 2}}).empty());
  CHECK(Range(ConstantAffine(5), {}) == Interval{5, 6});
}

TEST_CASE("a definition prints on one line, as the language writes it") {
  Definition definition = Convolution();
  CHECK(ToString(definition) == "y[o: 8, p: 5] = sum(u: 3) (x0[p*2 + u - 1] else 0) * x1[o, u]");
  definition.where = {{IndexAffine(2) - IndexAffine(1), false}};
  definition.data_where = {{IndexAffine(1), Function::kEq, false, Read(0, {IndexAffine(2)})}};
  definition.body = Call(Function::kSub, {Number(-std::numeric_limits<double>::infinity()),
                                          Call(Function::kSub, {Number(0.1), Number(2)})});
  CHECK(ToString(definition) ==
        "y[o: 8, p: 5] = sum(u: 3 where -p + u <= 0, p == x0[u]) (-inf - (0.1 - 2))");
}

TEST_CASE("a random number is an f32 that names no index") {
  const Affine i = IndexAffine(0), j = IndexAffine(1);
  const ExprPtr random = Call(Function::kRandom, {Read(0, {}), Read(1, {}), IndexValue(i * 6 + j)});
  CHECK(TypeOf(*random, {{ElementType::kI64, {}}, {ElementType::kI64, {}}}) == ElementType::kF32);
  CHECK(!NamesIndex(*random));
  CHECK(!NamesIndex(*Call(Function::kLt, {random, Read(2, {i})})));
  CHECK(NamesIndex(*Call(Function::kLt, {IndexValue(i), IndexValue(j)})));
  CHECK(NamesIndex(*Call(Function::kMul, {random, IndexValue(i)})));
  Definition definition = Define({4, 6}, 2, Reducer::kNone, {{}, {}}, random);
  CHECK(ToString(definition) == "y[i: 4, j: 6] = random(x0[], x1[], i*6 + j)");
  Definition other = definition;
  other.body = Call(Function::kRandom, {Read(0, {}), Read(1, {}), IndexValue(i + j * 4)});
  CHECK(!(other == definition));
}

TEST_CASE("definitions are equal by structure, not by address") {
  CHECK(Convolution() == Convolution());
  Definition other = Convolution();
  other.body = Call(Function::kAdd, other.body->args);
  CHECK_FALSE(Convolution() == other);
  other = Convolution();
  other.where.push_back({IndexAffine(0), true});
  CHECK_FALSE(Convolution() == other);
  CHECK_FALSE(SameNode(*Number(0.0), *Number(-0.0)));
}

}  // namespace
}  // namespace yuba
