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
      do {
        value = FloatOf(static_cast<uint32_t>(random()));
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
