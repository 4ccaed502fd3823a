// Choices of some mesh axes inside, or outside, of those of the axes before them.
#include "search/space/axis_group.h"

#include <algorithm>
#include <catch2/catch.hpp>

namespace yuba::search {
namespace {

const ChoiceSpace kMatrix = {{8, 8}, {true, true}};
const Mesh kMesh = MeshOf(8);

std::vector<Choice> Inside(const Choice& prefix, Nesting nesting, const Restriction* restriction) {
  return ChoicesInGroup(kMatrix, kMesh, {1, 3}, {1, 2}, prefix, nesting, restriction);
}

TEST_CASE("a group of axes has the choices of a mesh of its own inside of what is cut") {
  const Restriction first = {{OnlyExtents({true, false})}, Rest::kElsewhere};
  const Choice rows(std::vector<AxisList>{{0}, {}}), columns(std::vector<AxisList>{{}, {0}});
  // The example of the header.
  const std::vector<Choice> level = Inside(rows, Nesting::kLevel, &first);
  REQUIRE(level.size() == 1);
  CHECK(level[0].axes == std::vector<AxisList>{{0, 1, 2}, {}});
  const std::vector<Choice> anywhere = Inside(rows, Nesting::kAnywhere, &first);
  REQUIRE(anywhere.size() == 2);
  CHECK(anywhere[1].axes == std::vector<AxisList>{{1, 2, 0}, {}});
  // What the axes before cut otherwise is not undone, and does not forbid the group its choices.
  const std::vector<Choice> across = Inside(columns, Nesting::kLevel, &first);
  REQUIRE(across.size() == 1);
  CHECK(across[0].axes == std::vector<AxisList>{{1, 2}, {0}});
}

TEST_CASE("a group keeps a tensor whole on its axes alone") {
  const Restriction whole = {{OnlyExtents({false, false})}, Rest::kLeftOut};
  const Choice rows(std::vector<AxisList>{{0}, {}});
  const std::vector<Choice> choices = Inside(rows, Nesting::kAnywhere, &whole);
  REQUIRE(choices.size() == 1);
  CHECK(choices[0] == rows);
}

TEST_CASE("a group cuts no further than what is left of an extent") {
  const ChoiceSpace short_rows = {{5, 1}, {true, true}};
  const Choice rows(std::vector<AxisList>{{0}, {}});
  for (const Choice& choice :
       ChoicesInGroup(short_rows, kMesh, {1, 3}, {1, 2}, rows, Nesting::kLevel, nullptr)) {
    CHECK(WhyIllegal(short_rows, kMesh, choice).empty());
    CHECK(choice.axes[0].size() == 2);
  }
}

}  // namespace
}  // namespace yuba::search
