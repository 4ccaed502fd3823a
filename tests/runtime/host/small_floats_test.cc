// Runs of small floats against half.h, element by element: all bit patterns, any length.
#include "runtime/host/small_floats.h"

#include <catch2/catch.hpp>
#include <random>
#include <vector>

#include "opsemantics/base/half.h"

namespace yuba::runtime {
namespace {

TEST_CASE("every small float becomes the float that it is, and comes back") {
  std::vector<uint16_t> all(1 << 16);
  for (size_t i = 0; i < all.size(); ++i) all[i] = static_cast<uint16_t>(i);
  for (ElementType type : {ElementType::kBF16, ElementType::kF16}) {
    std::vector<float> floats(all.size());
    ToFloats(type, all.data(), static_cast<int64_t>(all.size()), floats.data());
    std::vector<uint16_t> back(all.size());
    FromFloats(type, floats.data(), static_cast<int64_t>(all.size()), back.data());
    for (size_t i = 0; i < all.size(); ++i) {
      const float expected = type == ElementType::kBF16 ? FromBF16(all[i]) : FromF16(all[i]);
      if (expected != expected) {
        REQUIRE(floats[i] != floats[i]);
        const float again = type == ElementType::kBF16 ? FromBF16(back[i]) : FromF16(back[i]);
        REQUIRE(again != again);
        continue;
      }
      REQUIRE(BitsOf(floats[i]) == BitsOf(expected));
      REQUIRE(back[i] == all[i]);
    }
  }
}

TEST_CASE("floats are rounded as half.h rounds, in runs of any length") {
  std::mt19937 random(1);
  for (int64_t count : {0, 1, 7, 8, 9, 31, 1000}) {
    std::vector<float> floats(count);
    for (float& value : floats) {
      // Ties of bf16 and of f16, what is next to them, and anything; every second one in f16's
      // range.
      const uint32_t ends[] = {0x8000, 0x7fff, 0x8001, 0x1000, 0x3000, 0x0fff, 0x1001};
      do {
        uint32_t bits = static_cast<uint32_t>(random());
        if (random() % 4 != 0) bits = (bits & 0xffff0000) | ends[random() % 7];
        if (random() % 2 != 0) bits = (bits & 0x87ffffff) | 0x38000000;
        value = FloatOf(bits);
      } while (value != value);
    }
    for (ElementType type : {ElementType::kBF16, ElementType::kF16}) {
      std::vector<uint16_t> narrow(count + 1, 0x1234);
      FromFloats(type, floats.data(), count, narrow.data());
      for (int64_t i = 0; i < count; ++i) {
        REQUIRE(narrow[i] == (type == ElementType::kBF16 ? ToBF16(floats[i]) : ToF16(floats[i])));
      }
      CHECK(narrow[count] == 0x1234);  // nothing behind the run is touched
    }
  }
}

}  // namespace
}  // namespace yuba::runtime
