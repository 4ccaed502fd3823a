// Classes of axes: grids, counts and symmetries against all ways to exchange axes one by one.

#include <algorithm>
#include <catch2/catch.hpp>
#include <map>
#include <numeric>
#include <random>
#include <vector>

#include "search/check/legal.h"
#include "search/check/part_counts.h"
#include "search/check/pins.h"
#include "search/plan/demand.h"
#include "search/space/domain.h"
#include "search/space/follow.h"
#include "search/space/grid_space.h"
#include "search/space/symmetry.h"
#include "tests/support/kinds.h"

namespace yuba::search {
namespace {

// All ways to exchange axes of equal size and equal kind: [way][axis], the axis that it becomes.
std::vector<std::vector<uint8_t>> Exchanges(const Mesh& mesh) {
  std::vector<uint8_t> to(mesh.axes.size());
  std::iota(to.begin(), to.end(), 0);
  std::vector<std::vector<uint8_t>> ways;
  do {
    bool same = true;
    for (size_t axis = 0; axis < to.size(); ++axis) {
      const MeshAxis &from = mesh.axes[axis], &other = mesh.axes[to[axis]];
      same = same && from.size == other.size && from.kind == other.kind;
    }
    if (same) ways.push_back(to);
  } while (std::next_permutation(to.begin(), to.end()));
  return ways;
}

// What is left of a choice where axes have no order and those that can be exchanged no names: the
// least of all that it can become.
std::vector<AxisList> Nameless(const Choice& choice,
                               const std::vector<std::vector<uint8_t>>& exchanges) {
  std::vector<AxisList> least;
  for (const std::vector<uint8_t>& to : exchanges) {
    std::vector<AxisList> axes = choice.axes;
    for (AxisList& list : axes) {
      for (uint8_t& axis : list) axis = to[axis];
      std::sort(list.begin(), list.end());
    }
    if (least.empty() || axes < least) least = std::move(axes);
  }
  return least;
}

// A space of up to three extents.
ChoiceSpace RandomSpace(std::mt19937& random) {
  ChoiceSpace space;
  space.optional = random() % 3 == 0;
  for (size_t e = 0, count = 1 + random() % 3; e < count; ++e) {
    space.extents.push_back(1 + static_cast<int64_t>(random() % 20));
    space.cuttable.push_back(space.extents.back() > 1);
  }
  return space;
}

TEST_CASE("grids are choices without the names of axes that can be exchanged, and no others") {
  std::mt19937 random(2);
  int of_one_kind = 0, of_several = 0;
  for (int run = 0; run < 200; ++run) {
    const int devices = std::vector<int>{4, 6, 8, 12, 16, 24, 36}[random() % 7];
    const Mesh mesh = MeshOfRandomKinds(devices, 3, random);
    const ChoiceSpace space = RandomSpace(random);
    CAPTURE(devices, space.extents, space.optional);
    std::vector<int> all(mesh.axes.size());
    std::iota(all.begin(), all.end(), 0);
    const auto exchanges = Exchanges(mesh);
    CHECK(AxisSymmetries(mesh, all, 1000).size() == exchanges.size());
    std::map<std::vector<AxisList>, Grid> by_name;
    std::map<Grid, int64_t> counts;  // choices
    for (const Choice& choice :
         LegalChoices(space, mesh, all, WholeChoice(space), Nesting::kFree)) {
      const Grid grid = GridOf(choice, mesh);
      CHECK(by_name.emplace(Nameless(choice, exchanges), grid).first->second == grid);
      ++counts[grid];
    }
    CHECK(by_name.size() == counts.size());
    std::vector<Grid> grids;
    for (const auto& [grid, count] : counts) {
      grids.push_back(grid);
      CHECK(CountChoicesOfGrid(grid, mesh, false) == count);
      CHECK(GridOf(ChoiceOfGrid(grid, {}, mesh, run % 2 == 0), mesh) == grid);
      CHECK(GridOf(CutIntoParts(mesh, grid), mesh) == grid);
    }
    CHECK(AllGrids(space, mesh) == grids);
    CHECK(CountGrids(space, mesh, 1'000'000) == static_cast<int64_t>(grids.size()));
    CHECK(CountGrids(space, mesh, 1) == 1);
    Tensor tensor;
    tensor.type.dims = space.extents;
    CHECK(EveryTensorGrid(mesh, tensor, space.optional, {}) == grids);
    of_several += static_cast<int>(grids.size());
    of_one_kind += static_cast<int>(AllGrids(space, MeshOf(devices)).size());
  }
  CHECK(of_several > of_one_kind + of_one_kind / 2);
}

TEST_CASE("the checker renames axes of one kind and size alone, and none that a pin names") {
  const Mesh mesh = MeshOfKinds(8, {0, 1, 0});
  const auto renamings = [&](const PinsOfElements& pins) {
    ChoiceLists lists(mesh, false, ClassesUnder(mesh, pins));
    return (*lists.Of("t", {8, 8}, false))->renamed->size();
  };
  CHECK(renamings({}) == 2);
  CHECK(renamings({{{{0}, false}}}) == 1);
  CHECK(renamings({{{{1}, false}}}) == 2);
}

TEST_CASE("a demand for an axis is met by grids with an axis of its kind") {
  const Mesh mesh = MeshOfKinds(4, {0, 1});
  const Grid ab = {{2, 1}, {1, 2}}, ba = {{1, 2}, {2, 1}}, both = {{2, 1}, {2, 1}};
  const Demands a_alone = {{{0}, false}, {{}, true}}, a_first = {{{0}, true}, {{}, true}};
  CHECK(MayMeet(mesh, ab, a_alone));
  CHECK_FALSE(MayMeet(mesh, ba, a_alone));
  CHECK_FALSE(MayMeet(mesh, both, a_alone));
  CHECK(MayMeet(mesh, both, a_first));
  CHECK_FALSE(MayMeet(mesh, ba, a_first));
}

TEST_CASE("groups are kept by axes of each kind apart") {
  // Partials cut over an axis of kind 0. Their reader cuts its first index over an axis of kind 0
  // and has groups over one of kind 1, or the other way round.
  CHECK(MayKeepGroups({{2}, {1}}, {{2, 1}, {1, 2}}));
  CHECK_FALSE(MayKeepGroups({{2}, {1}}, {{1, 2}, {2, 1}}));
}

}  // namespace
}  // namespace yuba::search
