#include "opsemantics/regions/structure.h"

#include "catch2/catch.hpp"
#include "opsemantics/regions/boxes.h"
#include "tests/opsemantics/support/definitions.h"

namespace yuba {
namespace {

using Ints = std::vector<int>;
const Affine i = IndexAffine(0), j = IndexAffine(1), k = IndexAffine(2), l = IndexAffine(3);

ExprPtr Product(ExprPtr a, ExprPtr b) { return Call(Function::kMul, {a, b}); }

TEST_CASE("a matrix product is a contraction whatever the order of its factors and dimensions") {
  for (bool swapped : {false, true}) {
    const ExprPtr a = Read(0, {k, i, l}), b = Read(1, {l, i, j});
    const Definition product = Define({2, 3, 4, 5}, 3, Reducer::kSum, {{4, 2, 5}, {5, 2, 3}},
                                      swapped ? Product(b, a) : Product(a, b));
    const auto contraction = MatchContraction(product);
    REQUIRE(contraction.has_value());
    // The result is y[i, j, k], so the operand of j comes first.
    CHECK(contraction->left == 1);
    CHECK(contraction->right == 0);
    CHECK(contraction->batch == Ints{0});
    CHECK(contraction->rows == Ints{1});
    CHECK(contraction->columns == Ints{2});
    CHECK(contraction->inner == Ints{3});
  }
}

TEST_CASE("a product of small floats that is cast to the type of its sums is a contraction") {
  const auto cast_product = [](ElementType factors, ElementType sum) {
    Expr product = *Product(Read(0, {i, k}), Read(1, {k, j}));
    product.type = factors;
    Definition definition = Define({2, 3, 4}, 2, Reducer::kSum, {{2, 4}, {4, 3}},
                                   Cast(std::make_shared<Expr>(product), sum));
    for (TensorType& operand : definition.operands) operand.type = factors;
    definition.result.type = sum;
    return definition;
  };
  const auto small = MatchContraction(cast_product(ElementType::kF16, ElementType::kF32));
  REQUIRE(small.has_value());
  CHECK(small->rows == Ints{0});
  CHECK(small->inner == Ints{2});
  CHECK(IsSumOfProducts(cast_product(ElementType::kBF16, ElementType::kF32)));
  // These casts change what is added.
  CHECK_FALSE(IsSumOfProducts(cast_product(ElementType::kF32, ElementType::kF64)));
  CHECK_FALSE(IsSumOfProducts(cast_product(ElementType::kF32, ElementType::kF16)));
  CHECK_FALSE(IsSumOfProducts(cast_product(ElementType::kI8, ElementType::kI32)));
}

TEST_CASE("what only resembles a contraction is none") {
  const ExprPtr a = Read(0, {i, k}), b = Read(1, {k, j});
  const Definition product = Define({2, 3, 4}, 2, Reducer::kSum, {{2, 4}, {4, 3}}, Product(a, b));
  CHECK(MatchContraction(product).has_value());
  Definition other = product;
  other.reducer = Reducer::kMax;
  CHECK_FALSE(MatchContraction(other).has_value());
  other = product;
  other.where.push_back({k - i, false});
  CHECK_FALSE(MatchContraction(other).has_value());
  other = product;
  other.body = Call(Function::kAdd, {a, b});
  CHECK_FALSE(MatchContraction(other).has_value());
  other = product;
  other.body = Product(Read(0, {i, k}, Number(0)), b);
  CHECK_FALSE(MatchContraction(other).has_value());
  other = product;
  other.body = Product(Read(0, {i, k * 2}), b);
  CHECK_FALSE(MatchContraction(other).has_value());
  // An inner index that only one operand has would be summed first.
  CHECK_FALSE(
      MatchContraction(Define({2, 3, 4}, 2, Reducer::kSum, {{2, 4}, {3}}, Product(a, Read(1, {j}))))
          .has_value());
}

TEST_CASE("an operand can be multiplied with itself") {
  const Definition gram =
      Define({3, 3, 4}, 2, Reducer::kSum, {{3, 4}}, Product(Read(0, {j, k}), Read(0, {i, k})));
  const auto contraction = MatchContraction(gram);
  REQUIRE(contraction.has_value());
  CHECK(contraction->left == 0);
  CHECK(contraction->right == 0);
  CHECK(contraction->rows == Ints{0});
  CHECK(contraction->columns == Ints{1});
}

TEST_CASE("views permute dimensions and compute nothing") {
  const Definition transpose =
      Define({2, 3, 4}, 3, Reducer::kNone, {{4, 2, 3}}, Read(0, {k, i, j}));
  CHECK(MatchView(transpose) == Ints{1, 2, 0});
  CHECK(IsMap(transpose));
  Definition squeeze = Define({2, 1, 4}, 3, Reducer::kNone, {{2, 4}}, Read(0, {i, k}));
  CHECK(MatchView(squeeze) == Ints{0, -1, 1});
  squeeze.operands[0].type = ElementType::kF16;
  CHECK_FALSE(MatchView(squeeze).has_value());
  CHECK_FALSE(MatchView(Define({2}, 1, Reducer::kNone, {{3}}, Read(0, {i}))).has_value());
  CHECK_FALSE(MatchView(Define({2, 3}, 2, Reducer::kNone, {{2}}, Read(0, {i}))).has_value());
  CHECK_FALSE(MatchView(Define({2}, 1, Reducer::kNone, {{2, 2}}, Read(0, {i, i}))).has_value());
}

}  // namespace
}  // namespace yuba
