// Drawn values are the same in pieces of any length, by any number of threads, in each type.
#include "runtime/drawn_source.h"

#include <catch2/catch.hpp>
#include <cstring>

#include "opsemantics/base/half.h"
#include "tests/support/status_matchers.h"

namespace yuba::runtime {
namespace {

constexpr int64_t kElements = 1 << 19;  // worth several threads
const Draw kDraw = {Draw::kNormal, 1, 2, 12345};

std::string Whole(ElementType type) {
  DrawnSource source(kDraw, type);
  return std::string(source.Next(kElements * ByteSize(type)).value());
}

TEST_CASE("elements are those of their places, rounded to the type") {
  const std::string doubles = Whole(ElementType::kF64), floats = Whole(ElementType::kF32),
                    halves = Whole(ElementType::kF16), brains = Whole(ElementType::kBF16);
  REQUIRE(doubles.size() == 8 * kElements);
  REQUIRE(halves.size() == 2 * kElements);
  int64_t wrong = 0;
  for (int64_t i = 0; i < kElements; ++i) {
    const double element = DrawnElement(kDraw, static_cast<uint64_t>(i));
    const auto narrow = static_cast<float>(element);
    const uint16_t half = ToF16(narrow), brain = ToBF16(narrow);
    wrong += std::memcmp(&element, &doubles[8 * i], 8) != 0;
    wrong += std::memcmp(&narrow, &floats[4 * i], 4) != 0;
    wrong += std::memcmp(&half, &halves[2 * i], 2) != 0;
    wrong += std::memcmp(&brain, &brains[2 * i], 2) != 0;
  }
  CHECK(wrong == 0);
}

TEST_CASE("pieces of any length are parts of the whole") {
  const std::string whole = Whole(ElementType::kF32);
  DrawnSource source(kDraw, ElementType::kF32);
  std::string pieces;
  for (const int64_t elements : {int64_t{1}, int64_t{300000}, int64_t{7}, kElements - 300008}) {
    const auto piece = source.Next(4 * elements);
    REQUIRE_THAT(piece, IsOk());
    pieces += std::string(*piece);
  }
  CHECK(pieces == whole);
}

}  // namespace
}  // namespace yuba::runtime
