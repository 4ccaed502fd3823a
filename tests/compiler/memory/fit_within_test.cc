// The search for offsets within a capacity: what it finds, what it proves, and how many steps it
// takes. That it finds what is there, and claims no more, arena_test.cc compares with all orders.
#include "compiler/memory/fit_within.h"

#include <catch2/catch.hpp>

#include "opsemantics/base/slot.h"
#include "tests/compiler/memory/lives.h"

namespace yuba::compiler {
namespace {

// The steps of placing all buffers without turning back, where each shares a section with each.
int64_t StepsOfDescent(int64_t buffers, int64_t sections) { return buffers * (buffers + sections); }

TEST_CASE("buffers are placed by rising offsets, each on another or at the bottom") {
  const std::vector<BufferLife> lives = {{0, 2, 64}, {1, 3, 128}, {2, 4, 64}, {0, 4, 0}};
  const Fit fit = FitWithin(lives, 192);
  REQUIRE(fit.offsets.has_value());
  CHECK(AreDisjoint(lives, *fit.offsets, 192));
  CHECK(FitWithin(lives, 128).impossible);
  CHECK_FALSE(FitWithin(lives, 128).offsets.has_value());
  CHECK(FitWithin({}, 0).offsets.has_value());
}

TEST_CASE("what lives at once may fit, and the buffers not") {
  const std::vector<BufferLife> lives = {{4, 7, 192}, {2, 4, 128}, {6, 8, 192},
                                         {2, 5, 64},  {3, 4, 128}, {0, 2, 64},
                                         {5, 6, 128}, {3, 6, 64},  {0, 3, 192}};
  REQUIRE(LiveSlots(lives) == 6 * kSlotBytes);
  CHECK(FitWithin(lives, 6 * kSlotBytes).impossible);
  const Fit fit = FitWithin(lives, 7 * kSlotBytes);
  REQUIRE(fit.offsets.has_value());
  CHECK(AreDisjoint(lives, *fit.offsets, 7 * kSlotBytes));
}

TEST_CASE("thousands of buffers of a network fit into what lives at once, without turning back") {
  std::mt19937_64 random(4);
  for (const int layers : {500, 1000}) {
    const std::vector<BufferLife> lives = Chain(layers, &random);
    const int64_t least = LiveSlots(lives);
    const Fit fit = FitWithin(lives, least);
    REQUIRE(fit.offsets.has_value());
    CHECK(AreDisjoint(lives, *fit.offsets, least));
    INFO(fit.steps << " steps");
    CHECK(fit.steps <= StepsOfDescent(4 * layers, 2 * layers));
  }
}

TEST_CASE("a search ends after the steps that it was given") {
  std::mt19937_64 random(5);
  const std::vector<BufferLife> lives = Filling(3000, 500, 1000, &random);
  const int64_t descent = StepsOfDescent(static_cast<int64_t>(lives.size()), 500);
  FitOptions options;
  for (const int64_t beyond : {int64_t{0}, int64_t{1} << 16}) {
    options.steps_beyond_descent = beyond;
    const Fit fit = FitWithin(lives, 3000 * kSlotBytes, options);
    CHECK_FALSE(fit.offsets.has_value());
    CHECK_FALSE(fit.impossible);
    CHECK(fit.steps > 5 * beyond);
    CHECK(fit.steps <= 5 * (descent + beyond) + 5 * 4 * static_cast<int64_t>(lives.size()));
  }
}

TEST_CASE("a search that cannot end is not begun") {
  std::mt19937_64 random(6);
  const std::vector<BufferLife> lives = Chain(100, &random);
  FitOptions options;
  options.most_steps = 400 * 400;
  const Fit fit = FitWithin(lives, LiveSlots(lives), options);
  CHECK(fit.steps == 0);
  CHECK_FALSE(fit.offsets.has_value());
  CHECK_FALSE(fit.impossible);
  CHECK(FitWithin(lives, LiveSlots(lives) - kSlotBytes, options).impossible);
  const std::vector<BufferLife> most = Chain(25000, &random);
  CHECK(FitWithin(most, LiveSlots(most)).steps == 0);
}

}  // namespace
}  // namespace yuba::compiler
