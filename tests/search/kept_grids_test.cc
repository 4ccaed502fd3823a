// Grids that only dear plans have are dropped: what is found among the others is no worse, and what
// is proved of it is true.
#include "search/kept_grids.h"

#include <catch2/catch.hpp>
#include <utility>
#include <vector>

#include "search/check.h"
#include "search/grid_search.h"
#include "search/grid_space.h"
#include "search/search.h"
#include "search/together.h"
#include "search/unlimited.h"
#include "tests/support/graphs.h"

namespace yuba {
namespace {

struct Count {
  int gaps = 0, closed = 0, raised = 0, cheaper = 0;
};

// What grids alone give.
Plan OnGrids(const Graph& graph, const SearchOptions& options) {
  return PlanOf(graph, options, FoundOnGrids(SearchOnGrids(graph, options, Budget::Unlimited())));
}

// The same bound of a plan that others find.
Plan Dear(const Graph& graph, SearchOptions options) {
  Plan plan = OnGrids(graph, options);
  options.search = "all-row";
  const Plan dear = Search(graph, options).value();
  plan.tensors = dear.tensors;
  plan.nodes = dear.nodes;
  plan.cost = dear.cost;
  return plan;
}

// With room for so many cells.
void Keep(const Graph& graph, SearchOptions options, const Plan& before, int64_t cells,
          int64_t optimum, Count* count) {
  options.table_cells = cells;
  const Plan after =
      PlanOf(graph, options,
             SearchKeptGrids(graph, options, Budget::Unlimited(),
                             {AllCuts(before), before.lower_bound, before.proof},
                             before.cost.bytes()));
  CAPTURE(cells, before.cost.bytes(), before.lower_bound, optimum);
  CHECK(CheckPlan(graph, after).ToString() == "OK");
  CHECK(after.lower_bound <= optimum);
  CHECK(after.cost.bytes() >= optimum);
  CHECK(after.lower_bound >= before.lower_bound);
  CHECK(after.cost.bytes() <= before.cost.bytes());
  if (before.cost.bytes() - before.lower_bound <= before.cost.bytes() / 1000) return;
  ++count->gaps;
  count->closed += after.lower_bound == after.cost.bytes();
  count->raised += after.lower_bound > before.lower_bound;
  count->cheaper += after.cost.bytes() < before.cost.bytes();
}

TEST_CASE("with few grids kept, bounds rise and stay below the optimum") {
  const std::vector<Graph> graphs = {Recurrent(64, 32, 2, 4), Recurrent(3, 5, 2, 4),
                                     ResNet(4, {1, 1}), ResNet(2, {1}), Recurrent(16, 20, 1, 4),
                                     Recurrent(7, 24, 2, 3),
                                     MatmulChain({24, 36, 12, 48, 24}, 30)};
  Count much, little, dear;
  for (const Graph& graph : graphs) {
    for (const int devices : {4, 6, 8, 9, 12}) {
      SearchOptions options;
      options.mesh = MeshOf(devices);
      const Plan best = Search(graph, options).value();
      if (best.lower_bound < best.cost.bytes()) continue;
      const Plan plan = OnGrids(graph, options), other = Dear(graph, options);
      Keep(graph, options, plan, options.table_cells, best.cost.bytes(), &much);
      for (const int64_t cells : {300, 3000, 30000}) {
        Keep(graph, options, plan, cells, best.cost.bytes(), &little);
        Keep(graph, options, other, cells, best.cost.bytes(), &little);
      }
      Keep(graph, options, other, options.table_cells, best.cost.bytes(), &dear);
    }
  }
  CAPTURE(much.gaps, much.closed, little.gaps, little.closed, little.raised, dear.gaps, dear.closed,
          dear.cheaper);
  CHECK(much.gaps >= 5);
  CHECK(much.raised == much.gaps);
  CHECK(2 * much.closed > much.gaps);
  CHECK(little.raised > little.closed);
  CHECK(dear.gaps > 20);
  CHECK(4 * dear.closed > 3 * dear.gaps);
  CHECK(dear.cheaper >= dear.closed);
}

TEST_CASE("the cuts of a grid are counted") {
  const CutSpace space = TensorCuts(TensorType{ElementType::kF32, {8, 6, 5}});
  for (const int devices : {2, 6, 8, 12, 24}) {
    const Mesh mesh = MeshOf(devices);
    for (const Nesting nesting : {Nesting::kFree, Nesting::kLevel}) {
      std::vector<int> axes;
      for (size_t axis = 0; axis < mesh.axes.size(); ++axis) axes.push_back(static_cast<int>(axis));
      Cut whole;
      whole.axes.resize(3);
      const std::vector<Cut> cuts = LegalCuts(space, mesh, axes, whole, nesting);
      for (const Grid& grid : AllGrids(space, mesh)) {
        int64_t count = 0;
        for (const Cut& cut : cuts) count += GridOf(cut, mesh) == grid;
        CAPTURE(devices, grid);
        CHECK(count == CutsOfGrid(grid, mesh, nesting == Nesting::kLevel));
      }
    }
  }
}

}  // namespace
}  // namespace yuba
