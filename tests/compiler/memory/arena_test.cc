// Offsets in one arena: small cases against all orders, and arenas that can be filled exactly.
#include "compiler/memory/arena.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <limits>
#include <numeric>
#include <random>

#include "compiler/memory/fit_within.h"
#include "opsemantics/base/slot.h"
#include "tests/compiler/memory/lives.h"

namespace yuba::compiler {
namespace {

// The smallest arena of all orders, each buffer as low as it can lie.
int64_t LeastOfAllOrders(const std::vector<BufferLife>& lives) {
  std::vector<int> order(lives.size());
  std::iota(order.begin(), order.end(), 0);
  int64_t least = std::numeric_limits<int64_t>::max();
  do {
    std::vector<int64_t> ends(lives.size(), 0);
    int64_t arena = 0;
    for (size_t i = 0; i < order.size(); ++i) {
      const BufferLife& life = lives[order[i]];
      int64_t offset = 0;
      for (size_t before = 0; before < i; ++before) {
        const BufferLife& other = lives[order[before]];
        if (life.begin < other.end && other.begin < life.end) {
          offset = std::max(offset, ends[order[before]]);
        }
      }
      ends[order[i]] = offset + SlotBytes(life.size);
      arena = std::max(arena, ends[order[i]]);
    }
    least = std::min(least, arena);
  } while (std::next_permutation(order.begin(), order.end()));
  return least;
}

TEST_CASE("few buffers are placed as well as any order places them") {
  std::mt19937_64 random(1);
  for (int round = 0; round < 200; ++round) {
    std::vector<BufferLife> lives;
    const int count = 6 + static_cast<int>(random() % 3);
    for (int b = 0; b < count; ++b) {
      const auto begin = static_cast<int64_t>(random() % 7);
      lives.push_back({begin, begin + 1 + static_cast<int64_t>(random() % 4),
                       static_cast<int64_t>(random() % 5) * kSlotBytes});
    }
    const int64_t least = LeastOfAllOrders(lives);
    const ArenaLayout found = PlaceBuffers(lives);
    CHECK(AreDisjoint(lives, found.offsets, found.arena));
    CHECK(found.arena == least);
    CHECK(FitWithin(lives, least).offsets.has_value());
    CHECK((least == 0 || FitWithin(lives, least - kSlotBytes).impossible));
  }
}

TEST_CASE("many buffers of long and of short lives share no byte") {
  std::mt19937_64 random(4);
  for (int round = 0; round < 5; ++round) {
    std::vector<BufferLife> lives;
    for (int b = 0; b < 1000; ++b) {
      const auto begin = static_cast<int64_t>(random() % 2000);
      const int64_t length = b % 10 == 0 ? 1000 : 1 + static_cast<int64_t>(random() % 4);
      lives.push_back({begin, std::min<int64_t>(begin + length, 2000),
                       static_cast<int64_t>(random() % 50) * kSlotBytes});
    }
    lives.push_back({0, 2000, 10 * kSlotBytes});
    const ArenaLayout found = PlaceBuffers(lives, 1);  // too little: first fit alone
    CHECK(AreDisjoint(lives, found.offsets, found.arena));
  }
}

TEST_CASE("buffers that fill an arena are mostly found to fit in it") {
  std::mt19937_64 random(2);
  int fit = 0;
  constexpr int kRounds = 40;
  for (int round = 0; round < kRounds; ++round) {
    const int64_t slots = 200;
    const std::vector<BufferLife> lives = Filling(slots, 40, 60, &random);
    const ArenaLayout found = PlaceBuffers(lives);
    REQUIRE(AreDisjoint(lives, found.offsets, found.arena));
    CHECK(found.arena <= slots * kSlotBytes * 5 / 4);
    fit += found.arena == slots * kSlotBytes;
  }
  INFO(fit << " of " << kRounds);
  CHECK(fit * 2 > kRounds);
}

TEST_CASE("an arena keeps within its limit where that is found, and is the least without") {
  std::mt19937_64 random(3);
  for (int round = 0; round < 40; ++round) {
    const std::vector<BufferLife> lives = Filling(100, 30, 30, &random);
    const int64_t least = PlaceBuffers(lives).arena;
    for (const int64_t limit : {least - kSlotBytes, least, least + 3, least * 5 / 4}) {
      const ArenaLayout found = PlaceBuffers(lives, limit);
      CHECK(AreDisjoint(lives, found.offsets, found.arena));
      CHECK((limit < least || found.arena <= limit));
    }
  }
  CHECK(PlaceBuffers({}).arena == 0);
}

}  // namespace
}  // namespace yuba::compiler
