// Memory that the search of axes counts change by change, against all rows.
#include "search/axes/axis_memory.h"

#include <catch2/catch.hpp>
#include <cstdlib>
#include <random>
#include <vector>

#include "search/engines/grid_rows.h"
#include "search/space/follow.h"
#include "tests/support/graphs.h"

namespace yuba::search {
namespace {

TEST_CASE("a change costs by how much all rows together then cost more, and peaks are the rows'") {
  const Graph graph = MatmulChain(std::vector<int64_t>(120, 64), 64);  // hundreds of rows
  const Mesh mesh = MeshOf(8);
  const std::vector<TensorUse> uses = TensorUsesOf(graph, mesh);
  GridProblem grids = BuildGridProblem(graph, mesh, uses, true).value();
  grids.pairwise.memory = GridRowsOf(graph, mesh, grids, 0);
  std::vector<std::vector<Grid>> all;
  for (const GridList& list : grids.grids) all.push_back(*list);
  ChoiceStore store(mesh);
  const AxisProblem problem = MakeAxisProblem(graph, uses, all, &store, true);
  std::mt19937 random(1);
  std::vector<int> choices(problem.variables.size(), -1);
  for (const bool buffers : {false, true}) {
    AxisMemory memory(problem, grids, buffers, mesh, &store);
    memory.SetPrices({{30, 5000}, {200, 9000}}, 1);
    const auto change = [&](size_t v) {
      const std::vector<Grid>& of = all[problem.elements[v]];
      const int to = store.Number(ChoiceOfGrid(of[random() % of.size()], {}, mesh, random() % 2));
      const int64_t before = memory.Cost();
      const int variable = static_cast<int>(v);
      const int64_t by = memory.Change(variable, choices[v], to);
      memory.Move(variable, choices[v], to);
      choices[v] = to;
      CHECK(std::abs(memory.Cost() - before - by) <= 1);  // both are rounded
    };
    choices.assign(choices.size(), -1);
    for (size_t v = 0; v < choices.size(); ++v) change(v);
    memory.SetTarget(memory.Peak(), 2);
    for (int i = 0; i < 500; ++i) change(random() % choices.size());
    if (buffers) continue;
    const Choices elements = ChoicesOfElements(problem, choices, &store);
    CHECK(memory.Peak() == UnmovedPeakOf(grids.pairwise, GridsOf(grids, elements, mesh)));
  }
}

}  // namespace
}  // namespace yuba::search
