#include "search/engines/grid_rows.h"

#include "search/rows/memory_core.h"
#include "search/rows/memory_search.h"

namespace yuba::search {

absl::optional<GridProblem> GridsWithRows(Task& task, const Budget& budget) {
  const Mesh& mesh = task.options().mesh;
  absl::optional<GridProblem> grids =
      BuildGridProblem(task.graph(), mesh, task.uses(), task.replicated(), budget,
                       task.options().table_cache.get(), task.restrictions());
  if (grids.has_value()) {
    grids->pairwise.memory = GridRowsOf(task.graph(), mesh, *grids, task.limit(), budget);
  }
  return grids;
}

Assignment GridsOf(const GridProblem& grids, const Choices& choices, const Mesh& mesh) {
  Assignment assignment;
  for (size_t e = 0; e < choices.size(); ++e) {
    assignment.push_back(PositionOfGrid(GridOf(choices[e], mesh), *grids.grids[e]));
  }
  return assignment;
}

absl::optional<Assignment> GridsInRows(const GridProblem& grids,
                                       const std::vector<MemoryPrice>& prices,
                                       const std::vector<Assignment>& starts, int64_t bound,
                                       const Budget& budget) {
  const absl::optional<MemoryCore> core = MakeCore(grids.pairwise);
  if (!core.has_value()) return absl::nullopt;
  std::vector<Assignment> reduced;
  for (const Assignment& start : starts) reduced.push_back(core->Reduce(start));
  const std::vector<Solution> found = SearchWithin(*core, prices, reduced, bound, budget);
  if (found.empty()) return absl::nullopt;
  return core->Expand(found[0].assignment);
}

}  // namespace yuba::search
