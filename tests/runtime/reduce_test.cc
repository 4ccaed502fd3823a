// Combining partials of every element type by every reducer, one element at a time.
#include "runtime/reduce.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <cstring>
#include <limits>

#include "opsemantics/base/half.h"
#include "opsemantics/base/hash_order.h"

namespace yuba::runtime {
namespace {

template <typename Stored>
using Values = std::vector<Stored>;

// The combination of partials of `length` elements; parts[0] is the first.
template <typename Result, typename Part>
Values<Result> Combine(const Combination& combination, const std::vector<Values<Part>>& parts,
                       size_t length) {
  const Box box = {{0, static_cast<int64_t>(length)}};
  const BoxWalk walk = WalkOf(box, std::vector<Box>(parts.size() + 1, box));
  std::vector<const char*> sources;
  for (const Values<Part>& part : parts)
    sources.push_back(reinterpret_cast<const char*>(part.data()));
  Values<Result> result(length);
  CombineWalk(combination, walk, sources, reinterpret_cast<char*>(result.data()));
  return result;
}

template <typename T>
Values<T> Same(Reducer reducer, ElementType type, const std::vector<Values<T>>& parts,
               bool hash = false) {
  return Combine<T, T>({reducer, type, type, hash}, parts, parts.empty() ? 1 : parts[0].size());
}

TEST_CASE("sums and products of integers wrap") {
  CHECK(Same<int8_t>(Reducer::kSum, ElementType::kI8, {{127, -5}, {1, 2}}) ==
        Values<int8_t>{-128, -3});
  CHECK(Same<uint8_t>(Reducer::kProd, ElementType::kU8, {{16, 3}, {17, 5}}) ==
        Values<uint8_t>{16, 15});
  CHECK(Same<int32_t>(Reducer::kSum, ElementType::kI32, {{INT32_MAX}, {1}}) ==
        Values<int32_t>{INT32_MIN});
  CHECK(Same<int64_t>(Reducer::kProd, ElementType::kI64, {{INT64_MAX}, {2}}) ==
        Values<int64_t>{-2});
  CHECK(Same<int16_t>(Reducer::kSum, ElementType::kI16, {{INT16_MAX}, {1}}) ==
        Values<int16_t>{INT16_MIN});
  CHECK(Same<uint16_t>(Reducer::kProd, ElementType::kU16, {{UINT16_MAX}, {UINT16_MAX}}) ==
        Values<uint16_t>{1});
  CHECK(Same<uint32_t>(Reducer::kSum, ElementType::kU32, {{UINT32_MAX}, {2}}) ==
        Values<uint32_t>{1});
}

TEST_CASE("the greatest u64 is no negative number") {
  CHECK(Same<uint64_t>(Reducer::kMax, ElementType::kU64, {{UINT64_MAX, 1}, {7, 0}}) ==
        Values<uint64_t>{UINT64_MAX, 1});
  CHECK(Same<uint64_t>(Reducer::kMin, ElementType::kU64, {}) == Values<uint64_t>{UINT64_MAX});
}

TEST_CASE("floats are summed in the order of the parts") {
  const float big = 16777216;  // adding 1 to it is lost
  CHECK(Same<float>(Reducer::kSum, ElementType::kF32, {{big}, {1}, {1}}) == Values<float>{big});
  CHECK(Same<float>(Reducer::kSum, ElementType::kF32, {{1}, {1}, {big}}) == Values<float>{big + 2});
  CHECK(Same<double>(Reducer::kSum, ElementType::kF64, {{16777216}, {1}}) ==
        Values<double>{16777217});
}

TEST_CASE("maxima and minima pass NaN on") {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  for (Reducer reducer : {Reducer::kMax, Reducer::kMin}) {
    CHECK(std::isnan(Same<float>(reducer, ElementType::kF32, {{nan}, {1}})[0]));
    CHECK(std::isnan(Same<float>(reducer, ElementType::kF32, {{1}, {nan}})[0]));
  }
  CHECK(Same<float>(Reducer::kMax, ElementType::kF32, {{1, -2}, {3, -4}}) == Values<float>{3, -2});
  CHECK(Same<int8_t>(Reducer::kMin, ElementType::kI8, {{1, -2}, {3, -4}}) == Values<int8_t>{1, -4});
}

TEST_CASE("any, all and pick") {
  CHECK(Same<uint8_t>(Reducer::kAny, ElementType::kBool, {{0, 1, 0}, {0, 0, 1}}) ==
        Values<uint8_t>{0, 1, 1});
  CHECK(Same<uint8_t>(Reducer::kAll, ElementType::kBool, {{1, 1, 0}, {1, 0, 1}}) ==
        Values<uint8_t>{1, 0, 0});
  const Values<float> picked =
      Same<float>(Reducer::kPick, ElementType::kF32, {{0, -0.0f}, {2.5f, 0}});
  CHECK(picked[0] == 2.5f);
  CHECK(std::signbit(picked[1]));  // exact for -0
}

TEST_CASE("half precision is summed in f32 and rounded once") {
  // 2048 + 1 + 1 is 2050; rounding to f16 after each step would stay at 2048.
  const Values<uint16_t> half =
      Same<uint16_t>(Reducer::kSum, ElementType::kF16, {{ToF16(2048)}, {ToF16(1)}, {ToF16(1)}});
  CHECK(FromF16(half[0]) == 2050);
  const Values<uint16_t> brain = Combine<uint16_t, float>(
      {Reducer::kSum, ElementType::kF32, ElementType::kBF16, false}, {{256}, {1}, {1}}, 1);
  CHECK(FromBF16(brain[0]) == 258);
}

TEST_CASE("without parts there is the identity") {
  CHECK(Same<float>(Reducer::kSum, ElementType::kF32, {})[0] == 0);
  CHECK(Same<float>(Reducer::kProd, ElementType::kF32, {})[0] == 1);
  CHECK(Same<float>(Reducer::kMax, ElementType::kF32, {})[0] ==
        -std::numeric_limits<float>::infinity());
  CHECK(Same<int32_t>(Reducer::kMin, ElementType::kI32, {})[0] == INT32_MAX);
  CHECK(Same<uint8_t>(Reducer::kAll, ElementType::kBool, {})[0] == 1);
  CHECK(Same<uint64_t>(Reducer::kMax, ElementType::kF32, {}, true)[0] == kHashMinusInfinity);
}

TEST_CASE("hash arithmetic wraps, orders by rank and knows no floats") {
  const uint64_t a = 0x123456789abcdef1, b = ~uint64_t{0};
  CHECK(Same<uint64_t>(Reducer::kSum, ElementType::kF16, {{a}, {b}}, true)[0] == a - 1);
  CHECK(Same<uint64_t>(Reducer::kProd, ElementType::kF64, {{a}, {b}}, true)[0] == 0 - a);
  const uint64_t larger = HashRank(a) < HashRank(b) ? b : a;
  CHECK(Same<uint64_t>(Reducer::kMax, ElementType::kF32, {{a}, {b}}, true)[0] == larger);
  CHECK(Same<uint64_t>(Reducer::kMin, ElementType::kF32, {{a}, {b}}, true)[0] == (a ^ b ^ larger));
  CHECK(Same<int32_t>(Reducer::kSum, ElementType::kI32, {{3}, {4}}, true)[0] ==
        7);  // stays integer
}

TEST_CASE("long rows are combined piece by piece") {
  Values<float> first(2000), second(2000);
  for (int i = 0; i < 2000; ++i) first[i] = static_cast<float>(i), second[i] = 0.5f;
  const Values<float> sum = Same<float>(Reducer::kSum, ElementType::kF32, {first, second});
  for (int i = 0; i < 2000; ++i) REQUIRE(sum[i] == i + 0.5f);
}

}  // namespace
}  // namespace yuba::runtime
