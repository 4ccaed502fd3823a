#include "opsemantics/oracle/interpret.h"

#include <cmath>
#include <limits>

#include "catch2/catch.hpp"
#include "opsemantics/oracle/hash_arithmetic.h"
#include "opsemantics/regions/boxes.h"
#include "tests/opsemantics/support/definitions.h"

namespace yuba {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

TensorValue Floats(std::vector<int64_t> dims, const std::vector<double>& numbers) {
  TensorValue value{{ElementType::kF32, std::move(dims)}, {}};
  for (double number : numbers) value.elements.push_back(Scalar{number});
  return value;
}

TensorValue Integers(std::vector<int64_t> dims, const std::vector<int64_t>& integers) {
  TensorValue value{{ElementType::kI64, std::move(dims)}, {}};
  for (int64_t integer : integers) {
    value.elements.emplace_back();
    value.elements.back().integer = integer;
  }
  return value;
}

TensorValue Run(Definition definition, const std::vector<TensorValue>& values,
                Arithmetic arithmetic = Arithmetic::kFloat) {
  std::vector<const TensorValue*> operands;
  definition.operands.clear();
  for (const TensorValue& value : values) {
    operands.push_back(&value);
    definition.operands.push_back(value.type);
  }
  TensorValue result{definition.result, {}};
  result.elements.resize(ElementCount(result.type));
  Interpret(definition, WholeRanges(definition), operands, arithmetic, result);
  return result;
}

std::vector<double> Numbers(const TensorValue& value) {
  std::vector<double> numbers;
  for (const Scalar& element : value.elements) numbers.push_back(element.number);
  return numbers;
}

std::vector<int64_t> Integral(const TensorValue& value) {
  std::vector<int64_t> integers;
  for (const Scalar& element : value.elements) integers.push_back(element.integer);
  return integers;
}

using Doubles = std::vector<double>;
using Int64s = std::vector<int64_t>;
const Affine i = IndexAffine(0), j = IndexAffine(1), k = IndexAffine(2);

TEST_CASE("a matrix product") {
  const Definition product = Define({2, 2, 3}, 2, Reducer::kSum, {{2, 3}, {3, 2}},
                                    Call(Function::kMul, {Read(0, {i, k}), Read(1, {k, j})}));
  const TensorValue y =
      Run(product, {Floats({2, 3}, {1, 2, 3, 4, 5, 6}), Floats({3, 2}, {1, 0, 0, 1, 2, 2})});
  CHECK(Numbers(y) == Doubles{7, 8, 16, 17});
}

TEST_CASE("reducers start from their identity and keep it where there is no term") {
  const TensorValue x = Floats({3}, {-2, 5, 4});
  const auto reduce = [&x](Reducer reducer) {  // of the x[j] with j < i
    Definition definition = Define({3, 3}, 1, reducer, {{3}}, Read(0, {j}));
    definition.where.push_back({j - i + ConstantAffine(1), false});
    return Numbers(Run(definition, {x}));
  };
  CHECK(reduce(Reducer::kSum) == Doubles{0, -2, 3});
  CHECK(reduce(Reducer::kProd) == Doubles{1, -2, -10});
  CHECK(reduce(Reducer::kMax) == Doubles{-kInfinity, -2, 5});
  CHECK(reduce(Reducer::kMin) == Doubles{kInfinity, -2, -2});
}

TEST_CASE("argmax and argmin give the first in row-major order of the reduction indices") {
  const auto arg = [](Reducer reducer) {
    Definition definition = Define({2, 2, 2}, 1, reducer, {{2, 2, 2}}, Read(0, {i, j, k}));
    definition.result.type = ElementType::kI64;
    return Integral(Run(definition, {Floats({2, 2, 2}, {1, 3, 3, 0, 5, 5, -1, -1})}));
  };
  CHECK(arg(Reducer::kArgMax) == Int64s{1, 0});
  CHECK(arg(Reducer::kArgMin) == Int64s{3, 2});
}

TEST_CASE("data decides which term a pick takes, negative indices from the end") {
  Definition gather = Define({3, 4}, 1, Reducer::kPick, {{4}, {3}}, Read(0, {j}));
  gather.operands[1].type = ElementType::kI64;
  gather.data_where.push_back(
      {j, Function::kEq, false, Call(Function::kWrap, {Read(1, {i}), Integer(4)})});
  const TensorValue table = Floats({4}, {-0.0, 11, 12, 13});
  const TensorValue y = Run(gather, {table, Integers({3}, {2, -1, 0})});
  CHECK(Numbers(y) == Doubles{12, 13, 0});
  CHECK(std::signbit(y.elements[2].number));  // a sum with 0 would lose it
  CHECK(Numbers(Run(gather, {table, Integers({3}, {9, -9, 1})})) == Doubles{0, 0, 11});
}

TEST_CASE("reads outside take the other value, and unchosen branches are not read") {
  const Definition pad =
      Define({4}, 1, Reducer::kNone, {{2}}, Read(0, {i - ConstantAffine(1)}, Number(7)));
  CHECK(Numbers(Run(pad, {Floats({2}, {1, 2})})) == Doubles{7, 1, 2, 7});
  const ExprPtr first = Call(Function::kLt, {IndexValue(i), Integer(2)});
  const Definition concat =
      Define({3}, 1, Reducer::kNone, {{2}, {1}},
             Call(Function::kSelect, {first, Read(0, {i}), Read(1, {i - ConstantAffine(2)})}));
  CHECK(Numbers(Run(concat, {Floats({2}, {1, 2}), Floats({1}, {3})})) == Doubles{1, 2, 3});
}

Scalar Number64(double number) { return Scalar{number}; }
Scalar Integer64(int64_t integer) {
  Scalar scalar;
  scalar.integer = integer;
  return scalar;
}

TEST_CASE("casts round, saturate and wrap") {
  const auto cast = [](Scalar value, ElementType from, ElementType to) {
    return Convert(value, from, to, Arithmetic::kFloat);
  };
  CHECK(cast(Number64(0.1), ElementType::kF64, ElementType::kF32).number == double{0.1f});
  CHECK(cast(Number64(2049), ElementType::kF32, ElementType::kF16).number == 2048);
  CHECK(cast(Number64(-2.7), ElementType::kF32, ElementType::kI32).integer == -2);
  CHECK(cast(Number64(1e30), ElementType::kF32, ElementType::kI32).integer == INT32_MAX);
  CHECK(cast(Number64(NAN), ElementType::kF32, ElementType::kI64).integer == 0);
  CHECK(cast(Number64(0.5), ElementType::kF32, ElementType::kBool).integer == 1);
  CHECK(cast(Integer64(300), ElementType::kI64, ElementType::kU8).integer == 44);
  CHECK(cast(Integer64(3), ElementType::kI64, ElementType::kF32).number == 3);
  CHECK(cast(Integer64(70000), ElementType::kI64, ElementType::kU16).integer == 4464);
  CHECK(cast(Integer64(40000), ElementType::kU16, ElementType::kI16).integer == -25536);
  CHECK(cast(Integer64(-1), ElementType::kI64, ElementType::kU32).integer == UINT32_MAX);
  CHECK(cast(Integer64(-1), ElementType::kU64, ElementType::kF64).number == 0x1p64);
  CHECK(cast(Number64(-3), ElementType::kF64, ElementType::kU64).integer == 0);
  CHECK(cast(Number64(0x1p63), ElementType::kF64, ElementType::kU64).integer == INT64_MIN);
  CHECK(cast(Number64(1e30), ElementType::kF32, ElementType::kU64).integer == -1);
}

TEST_CASE("a u64 has no sign") {
  const auto apply = [](Function function, uint64_t a, uint64_t b) {
    const Scalar args[2] = {Integer64(static_cast<int64_t>(a)), Integer64(static_cast<int64_t>(b))};
    return static_cast<uint64_t>(
        Apply(function, ElementType::kU64, Arithmetic::kFloat, args).integer);
  };
  constexpr uint64_t kMost = UINT64_MAX;
  CHECK(apply(Function::kDiv, kMost, 2) == INT64_MAX);
  CHECK(apply(Function::kMod, kMost, 10) == 5);
  CHECK(apply(Function::kDiv, 1, 0) == 0);
  CHECK(apply(Function::kMin, kMost, 1) == 1);
  CHECK(apply(Function::kMax, kMost, 1) == kMost);
  CHECK(apply(Function::kLt, 1, kMost) == 1);
  CHECK(apply(Function::kLe, kMost, 1) == 0);
  CHECK(apply(Function::kAbs, kMost, 0) == kMost);
  CHECK(apply(Function::kSign, kMost, 0) == 1);
  CHECK(apply(Function::kPow, 3, 40) == 12157665459056928801u);
  CHECK(apply(Function::kSqrt, kMost, 0) == uint64_t{1} << 32);
}

int64_t OfIntegers(Function function, int64_t a, int64_t b) {
  const Scalar args[2] = {Integer64(a), Integer64(b)};
  return Apply(function, ElementType::kI64, Arithmetic::kFloat, args).integer;
}

TEST_CASE("integers divide toward zero, and nothing traps") {
  CHECK(OfIntegers(Function::kDiv, -7, 2) == -3);
  CHECK(OfIntegers(Function::kDiv, 7, 0) == 0);
  CHECK(OfIntegers(Function::kDiv, INT64_MIN, -1) == INT64_MIN);
  CHECK(OfIntegers(Function::kMod, -7, 3) == 2);
  CHECK(OfIntegers(Function::kMod, 7, -3) == -2);
  CHECK(OfIntegers(Function::kMod, 7, 0) == 0);
  CHECK(OfIntegers(Function::kPow, -2, 3) == -8);
  CHECK(OfIntegers(Function::kPow, 2, -1) == 0);
  CHECK(OfIntegers(Function::kAdd, INT64_MAX, 1) == INT64_MIN);
}

TEST_CASE("integers meet floats as floats, and values round when stored") {
  const Definition mean =
      Define({1, 3}, 1, Reducer::kSum, {{3}}, Call(Function::kDiv, {Read(0, {j}), Integer(3)}));
  const TensorValue y = Run(mean, {Floats({3}, {0.5, 0.25, 0.25})});
  CHECK(y.elements[0].number == static_cast<float>(1.0 / 3));
}

TEST_CASE("hash arithmetic keeps the ring's laws and the order of infinities") {
  const uint64_t a = 0x123456789abcdef, b = 77, c = ~uint64_t{12};
  CHECK(HashDivide(a, c) + HashDivide(b, c) == HashDivide(a + b, c));
  CHECK(HashMax(kHashMinusInfinity, a) == a);
  CHECK(HashMin(kHashPlusInfinity, a) == a);
  CHECK(HashMix(a, 3) % 2 == 1);
  CHECK(HashOf(-3) == ~uint64_t{2});
  CHECK(HashOf(0.5) % 2 == 1);
  CHECK(HashOf(-kInfinity) == kHashMinusInfinity);
  CHECK(HashMix(a, HashSalt(Function::kExp)) != HashMix(a, HashSalt(Function::kLog)));
  int positive = 0;  // relu neither keeps nor loses nearly all
  for (uint64_t x = 1; x <= 1000; ++x) positive += HashMax(x * a, 0) != 0;
  CHECK(positive > 100);
  CHECK(positive < 900);
}

TEST_CASE("in hash arithmetic any split of a sum is equal bit for bit") {
  const Definition sum =
      Define({1, 6}, 1, Reducer::kSum, {{6}}, Call(Function::kExp, {Read(0, {j})}));
  TensorValue x = Floats({6}, Doubles(6));
  for (int e = 0; e < 6; ++e) x.elements[e].hash = e * 0x9e3779b97f4a7c15;
  const TensorValue whole = Run(sum, {x}, Arithmetic::kHash);
  TensorValue first = whole, second = whole;
  Interpret(sum, {{0, 1}, {0, 2}}, {&x}, Arithmetic::kHash, first);
  Interpret(sum, {{0, 1}, {2, 6}}, {&x}, Arithmetic::kHash, second);
  CHECK(first.elements[0].hash != whole.elements[0].hash);
  Combine(Reducer::kSum, Arithmetic::kHash, second, {{0, 1}}, first);
  CHECK(first.elements[0].hash == whole.elements[0].hash);
}

TEST_CASE("a term that is used twice is computed once at a point") {
  ExprPtr sum = Read(0, {i}), branch = sum;
  for (int n = 0; n < 60; ++n) {
    sum = Call(Function::kMul, {Call(Function::kAdd, {sum, sum}), Number(0.5)});
    branch = Call(Function::kSelect, {Call(Function::kLt, {branch, Number(n)}),
                                      Call(Function::kAdd, {branch, Number(1)}), branch});
  }
  const TensorValue x = Floats({3}, {1.5, -2, 100});
  CHECK(Run(Define({3}, 1, Reducer::kNone, {}, sum), {x}).elements[2].number == 100);
  const TensorValue counted = Run(Define({3}, 1, Reducer::kNone, {}, branch), {x});
  CHECK(counted.elements[0].number == 59.5);  // 1.5 is not below 0 and 1
  CHECK(counted.elements[1].number == 58);
  CHECK(counted.elements[2].number == 100);
  // What it reads is logged once a point.
  const Definition logged = Define({3}, 1, Reducer::kNone, {{3}}, sum);
  TensorValue result = x;
  int reads = 0;
  Interpret(logged, WholeRanges(logged), {&x}, Arithmetic::kFloat, result,
            [&reads](int, const std::vector<int64_t>&) { ++reads; });
  CHECK(reads < 3 * 200);
}

}  // namespace
}  // namespace yuba
