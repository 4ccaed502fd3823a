// One mesh axis moved in all variables together, against all ways to move it.
#include <algorithm>
#include <catch2/catch.hpp>
#include <functional>
#include <random>
#include <set>
#include <vector>

#include "search/axes/axis_pool.h"
#include "search/axes/axis_search.h"
#include "search/space/follow.h"
#include "tests/support/graphs.h"
#include "tests/support/kinds.h"

namespace yuba::search {
namespace {

// Of the choices of WithMoved of each variable, all together, the least cost.
int64_t LeastMoved(const AxisProblem& problem, uint8_t axis, AxisSearch& search) {
  const std::vector<int> begin = search.choices();
  int64_t least = search.Cost();
  const std::function<void(size_t)> choose = [&](size_t v) {
    if (v == problem.variables.size()) {
      least = std::min(least, search.Cost());
      return;
    }
    for (const int choice : search.WithMoved(static_cast<int>(v), begin[v], axis)) {
      search.Set(static_cast<int>(v), choice);
      choose(v + 1);
    }
  };
  choose(0);
  search.SetAll(begin);
  return least;
}

TEST_CASE("an axis goes where the whole costs least") {
  const Graph graph = MatmulChain({12, 40, 16}, 24);
  const Mesh mesh = MeshOf(8);
  const std::vector<TensorUse> uses = TensorUsesOf(graph, mesh);
  const GridProblem grids = BuildGridProblem(graph, mesh, uses, true).value();
  std::vector<std::vector<Grid>> all;
  for (const GridList& list : grids.grids) all.push_back(*list);
  ChoiceStore store(mesh);
  const AxisProblem problem = MakeAxisProblem(graph, uses, all, &store);
  AxisSearch search(problem, mesh, Nesting::kFree, Budget::Unlimited(), &store);
  // x [24, 12] cut over [ab, c]: c innermost or outermost on either dimension.
  const int x = problem.variable[0], cut = store.Number(Choice(Sharding{{{0, 1}, {2}}}));
  REQUIRE(problem.elements[x] == 0);
  std::set<std::vector<AxisList>> places;
  for (const int choice : search.WithMoved(x, cut, 2)) places.insert(store.at(choice).axes);
  CHECK(places == std::set<std::vector<AxisList>>{{{0, 1}, {2}}, {{2, 0, 1}, {}}, {{0, 1, 2}, {}}});

  std::mt19937 random(1);
  int moved = 0, stayed = 0, where_no_one_moves = 0;
  for (int start = 0; start < 40; ++start) {
    for (size_t v = 0; v < problem.variables.size(); ++v) {
      const std::vector<Grid>& of = all[problem.elements[v]];
      const Choice choice = ChoiceOfGrid(of[random() % of.size()], {}, mesh, random() % 2 == 0);
      search.Set(static_cast<int>(v), store.Number(choice));
    }
    if (start % 2 == 0) search.Descend();  // no choice of one variable alone makes it cheaper
    for (uint8_t axis = 0; axis < mesh.axes.size(); ++axis) {
      CAPTURE(start, axis);
      const int64_t before = search.Cost(), least = LeastMoved(problem, axis, search);
      const bool cheaper = MoveAxis(problem, axis, 1 << 20, Budget::Unlimited(), &search);
      CHECK(cheaper == (least < before));
      CHECK(search.Cost() == least);
      ++(cheaper ? moved : stayed);
      where_no_one_moves += cheaper && start % 2 == 0;
    }
  }
  CHECK(moved > 20);
  CHECK(stayed > 20);
  CHECK(where_no_one_moves > 3);
}

TEST_CASE("axes of one class alone are exchanged, and alone share what is known of costs") {
  const Graph graph = MatmulChain({5, 7}, 3);
  const Mesh mesh = MeshOfKinds(8, {0, 1, 0});
  const std::vector<TensorUse> uses = TensorUsesOf(graph, mesh);
  const GridProblem grids = BuildGridProblem(graph, mesh, uses, true).value();
  std::vector<std::vector<Grid>> all;
  for (const GridList& list : grids.grids) all.push_back(*list);
  ChoiceStore store(mesh);
  const AxisProblem problem = MakeAxisProblem(graph, uses, all, &store, true);
  AxisSearch search(problem, mesh, Nesting::kFree, Budget::Unlimited(), &store);
  const auto number = [&](std::vector<AxisList> axes) {
    return store.Number(Choice(std::move(axes)));
  };
  std::vector<int> exchanged;
  search.ForEachExchange(problem.variable[0], number({{0}, {1}}),
                         [&](int choice) { exchanged.push_back(choice); });
  CHECK(exchanged == std::vector<int>{number({{2}, {1}})});

  // x [3, 5], over the first dimension, which nothing divides: each new pair is counted device by
  // device.
  const auto use = std::find_if(uses.begin(), uses.end(),
                                [](const TensorUse& each) { return each.tensor == 0; });
  REQUIRE(use != uses.end());
  const auto count = [&](uint8_t axis) {
    const int64_t before = store.steps();
    store.Cost(*use->costs, use->kind, number({{axis}, {}}), number({{axis}, {}, {}}));
    return store.steps() - before;
  };
  const int64_t first = count(0);
  CHECK(first > 0);
  CHECK(count(2) == 0);
  CHECK(count(1) == first);
}

}  // namespace
}  // namespace yuba::search
