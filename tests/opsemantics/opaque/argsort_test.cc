// argsort against insertion, one comparison of two numbers after the other: every element type,
// ties, -0, NaN, infinities, steps between elements, rows of 0 and 1. And that it is n log n.
#include "opsemantics/opaque/argsort.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <functional>
#include <limits>
#include <random>
#include <string>

#include "opsemantics/base/half.h"
#include "opsemantics/base/hash_order.h"

namespace yuba {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr ElementType kTypes[] = {
    ElementType::kF64, ElementType::kF32, ElementType::kF16, ElementType::kBF16, ElementType::kI64,
    ElementType::kI32, ElementType::kI8,  ElementType::kU8,  ElementType::kBool, ElementType::kI16,
    ElementType::kU16, ElementType::kU32, ElementType::kU64};

using Positions = std::vector<int64_t>;

// A NaN is above all numbers.
bool Below(double a, double b) { return std::isnan(b) ? !std::isnan(a) : a < b; }

// Each element is put behind all that come before it.
template <typename T, typename Before>
Positions Inserted(const std::vector<T>& row, const Before& before) {
  Positions order;
  for (size_t i = 0; i < row.size(); ++i) {
    auto place = order.end();
    while (place != order.begin() && before(row[i], row[*(place - 1)])) --place;
    order.insert(place, static_cast<int64_t>(i));
  }
  return order;
}

template <typename T>
void Append(T value, std::string& bytes) {
  bytes.append(reinterpret_cast<const char*>(&value), sizeof value);
}

void AppendAs(ElementType type, double value, std::string& bytes) {
  switch (type) {
    case ElementType::kF64: return Append(value, bytes);
    case ElementType::kF32: return Append(static_cast<float>(value), bytes);
    case ElementType::kF16: return Append(ToF16(static_cast<float>(value)), bytes);
    case ElementType::kBF16: return Append(ToBF16(static_cast<float>(value)), bytes);
    case ElementType::kI64: return Append(static_cast<int64_t>(value), bytes);
    case ElementType::kI32: return Append(static_cast<int32_t>(value), bytes);
    case ElementType::kI8: return Append(static_cast<int8_t>(value), bytes);
    case ElementType::kU8: return Append(static_cast<uint8_t>(value), bytes);
    case ElementType::kBool: return Append(static_cast<uint8_t>(value != 0), bytes);
    case ElementType::kI16: return Append(static_cast<int16_t>(value), bytes);
    case ElementType::kU16: return Append(static_cast<uint16_t>(value), bytes);
    case ElementType::kU32: return Append(static_cast<uint32_t>(value), bytes);
    case ElementType::kU64: return Append(static_cast<uint64_t>(value), bytes);
  }
}

// Argsort of a row of `length` elements that lie `step` apart, written two apart.
Positions Sorted(ElementType type, const std::string& bytes, int64_t length, int64_t step,
                 bool descending, bool hash = false) {
  Positions result(2 * length + 1, -7);
  OpaqueCall call;
  call.arguments.push_back({bytes.data(), {type, {length}}, {step}});
  call.result = {reinterpret_cast<char*>(result.data()), {ElementType::kI64, {length}}, {2}};
  call.attributes = {descending ? 1.0 : 0.0};
  call.hash = hash;
  Argsort(call);
  Positions order;
  for (size_t i = 0; i < result.size(); ++i) {
    if (i % 2 == 0 && i + 1 < result.size())
      order.push_back(result[i]);
    else
      CHECK(result[i] == -7);  // between its elements and behind them nothing is written
  }
  return order;
}

// Numbers that the type has, many of them several times.
std::vector<double> RowOf(ElementType type, size_t length, std::mt19937& random) {
  std::vector<double> special = {0, 1, 2, 1, 0};
  if (type == ElementType::kU64) special.push_back(0x1p63);  // a sign it would be
  if (IsSigned(type)) special.insert(special.end(), {-1, -2, -100, 100, -1});
  if (IsFloat(type))
    special.insert(special.end(), {-0.0, kNan, -kNan, kInfinity, -kInfinity, 0.5, -0.5, 0x1p-14});
  std::vector<double> row;
  for (size_t i = 0; i < length; ++i) row.push_back(special[random() % special.size()]);
  return row;
}

TEST_CASE("argsort of every element type is what insertion gives") {
  std::mt19937 random(3);
  for (ElementType type : kTypes) {
    for (size_t length : {0, 1, 2, 7, 40}) {
      for (int64_t step : {1, 3}) {
        const std::vector<double> row = RowOf(type, length, random);
        std::string bytes;
        for (double value : row) {
          AppendAs(type, type == ElementType::kBool ? value != 0 : value, bytes);
          for (int64_t i = 1; i < step; ++i) AppendAs(type, 77, bytes);
        }
        std::vector<double> values = row;
        if (type == ElementType::kBool) {
          for (double& value : values) value = value != 0;
        }
        INFO(Name(type) << ", " << length << " elements " << step << " apart");
        const int64_t n = static_cast<int64_t>(length);
        CHECK(Sorted(type, bytes, n, step, false) == Inserted(values, Below));
        CHECK(Sorted(type, bytes, n, step, true) ==
              Inserted(values, [](double a, double b) { return Below(b, a); }));
      }
    }
  }
}

TEST_CASE("integers beyond what a double tells apart are sorted as integers") {
  const std::vector<int64_t> row = {(int64_t{1} << 53) + 1, int64_t{1} << 53,
                                    std::numeric_limits<int64_t>::min(),
                                    std::numeric_limits<int64_t>::max(), -1};
  std::string bytes;
  for (int64_t value : row) Append(value, bytes);
  CHECK(Sorted(ElementType::kI64, bytes, 5, 1, false) == Positions{2, 4, 1, 0, 3});
  CHECK(Sorted(ElementType::kI64, bytes, 5, 1, true) == Positions{3, 0, 1, 4, 2});
}

TEST_CASE("in hash arithmetic floats of every type are in the order of hashes") {
  std::mt19937_64 random(4);
  std::vector<uint64_t> row = {kHashPlusInfinity, 5, kHashMinusInfinity, 5, 0};
  while (row.size() < 30) row.push_back(random() % 3 == 0 ? row[random() % row.size()] : random());
  std::string bytes;
  for (uint64_t element : row) Append(element, bytes);
  const Positions expected =
      Inserted(row, [](uint64_t a, uint64_t b) { return HashRank(a) < HashRank(b); });
  CHECK(expected[0] == 2);
  CHECK(expected.back() == 0);
  for (ElementType type : {ElementType::kF64, ElementType::kF32, ElementType::kF16})
    CHECK(Sorted(type, bytes, 30, 1, false, true) == expected);
  // Integers stay integers.
  std::string integers;
  for (int32_t value : {3, -1, 2}) Append(value, integers);
  CHECK(Sorted(ElementType::kI32, integers, 3, 1, false, true) == Positions{1, 2, 0});
}

TEST_CASE("50,000 elements take n log n comparisons, in whatever order they come") {
  constexpr int64_t kLength = 50000;
  std::mt19937_64 random(5);
  const std::vector<std::pair<const char*, std::function<uint64_t(int64_t)>>> rows = {
      {"ascending", [](int64_t i) { return i; }},
      {"descending", [](int64_t i) { return kLength - i; }},
      {"equal", [](int64_t) { return 1; }},
      {"up and down", [](int64_t i) { return std::min(i, kLength - i); }},
      {"few values", [](int64_t i) { return i % 7; }},
      {"random", [&random](int64_t) { return random(); }}};
  for (const auto& [name, value] : rows) {
    INFO(name);
    std::vector<SortEntry> entries;
    for (int64_t i = 0; i < kLength; ++i) entries.push_back({value(i), i});
    int64_t comparisons = 0;
    SortEntries(entries, [&comparisons](const SortEntry& a, const SortEntry& b) {
      ++comparisons;
      return a < b;
    });
    CHECK(std::is_sorted(entries.begin(), entries.end()));
    CHECK(static_cast<double>(comparisons) < 3 * kLength * std::log2(kLength));
  }
}

TEST_CASE("argsort refuses what it cannot sort") {
  const OpaqueType row = {ElementType::kF32, {8}}, positions = {ElementType::kI64, {8}};
  CHECK(WhyNotArgsort({{row}, positions, {0}}).empty());
  CHECK(!WhyNotArgsort({{row, row}, positions, {0}}).empty());
  CHECK(!WhyNotArgsort({{row}, positions, {}}).empty());
  CHECK(!WhyNotArgsort({{{ElementType::kF32, {8, 2}}}, positions, {0}}).empty());
  CHECK(!WhyNotArgsort({{row}, {ElementType::kI64, {7}}, {0}}).empty());
  CHECK(!WhyNotArgsort({{row}, {ElementType::kI32, {8}}, {0}}).empty());
}

TEST_CASE("functions are found by their names") {
  for (const OpaqueFunction& function : OpaqueFunctions())
    CHECK(FindOpaqueFunction(function.name) == &function);
  CHECK(FindOpaqueFunction("no_such") == nullptr);
  CHECK(NoOpaqueFunction("no_such") ==
        "no opaque function is called 'no_such'; there are: argsort");
}

}  // namespace
}  // namespace yuba
