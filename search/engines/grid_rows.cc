#include "search/engines/grid_rows.h"

#include <algorithm>
#include <utility>

#include "search/rows/memory_core.h"
#include "search/rows/memory_rounds.h"

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

Assignment LeastUses(const GridProblem& grids) {
  std::vector<std::vector<int64_t>> sums;
  for (const GridList& list : grids.grids) sums.emplace_back(list->size(), 0);
  for (const MemoryUse& use : grids.pairwise.memory.uses) {
    std::vector<int64_t>& sum = sums[use.variable];
    for (size_t i = 0; i < sum.size(); ++i) sum[i] += (*use.usage)[i];
  }
  Assignment least;
  for (const std::vector<int64_t>& sum : sums) {
    least.push_back(static_cast<int>(std::min_element(sum.begin(), sum.end()) - sum.begin()));
  }
  return least;
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
  absl::optional<Assignment> best;
  int64_t least = kForbidden;
  for (const Assignment& start : starts) {
    if (least <= bound) break;
    absl::optional<Assignment> found =
        SearchWithin(*core, prices, core->Reduce(start), bound, budget);
    const int64_t cost = found.has_value() ? CostOf(*core, *found) : kForbidden;
    if (cost >= least) continue;
    least = cost;
    best = std::move(found);
  }
  if (!best.has_value()) return absl::nullopt;
  return core->Expand(*best);
}

}  // namespace yuba::search
