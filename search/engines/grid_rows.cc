#include "search/engines/grid_rows.h"

#include <algorithm>

#include "search/rows/memory_core.h"
#include "search/rows/memory_search.h"
#include "search/solve/few_values.h"

namespace yuba::search {
namespace {

// With more cells in all uses the rows' tables take minutes and more memory than most machines
// have: then likely grids alone are searched.
constexpr int64_t kMostCells = int64_t{1} << 28;

}  // namespace

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

namespace {

absl::optional<Assignment> SearchCore(const PairwiseProblem& problem,
                                      const std::vector<MemoryPrice>& prices,
                                      const std::vector<Assignment>& starts, int64_t bound,
                                      const Budget& budget) {
  const absl::optional<MemoryCore> core = MakeCore(problem);
  if (!core.has_value()) return absl::nullopt;
  std::vector<Assignment> reduced;
  for (const Assignment& start : starts) reduced.push_back(core->Reduce(start));
  const std::vector<Solution> found = SearchWithin(*core, prices, reduced, bound, budget);
  if (found.empty()) return absl::nullopt;
  return core->Expand(found[0].assignment);
}

}  // namespace

absl::optional<Assignment> GridsInRows(const GridProblem& grids, const LowerBound& bound,
                                       const std::vector<Assignment>& starts,
                                       const Budget& budget) {
  const std::vector<MemoryPrice>& prices = bound.proof.prices;
  if (bound.values.empty() || WholeCellsOf(grids.pairwise) <= kMostCells) {
    return SearchCore(Whole(grids.pairwise), prices, starts, bound.bytes, budget);
  }
  std::vector<std::vector<int>> values = bound.values;
  std::vector<Assignment> few_starts;
  for (const Assignment& start : starts) {
    few_starts.emplace_back();
    for (size_t v = 0; v < values.size(); ++v) {
      const auto place = std::find(values[v].begin(), values[v].end(), start[v]);
      few_starts.back().push_back(static_cast<int>(place - values[v].begin()));
      if (place == values[v].end()) values[v].push_back(start[v]);
    }
  }
  absl::optional<Assignment> found =
      SearchCore(OfFewValues(grids.pairwise, values), prices, few_starts, bound.bytes, budget);
  for (size_t v = 0; found.has_value() && v < values.size(); ++v) {
    (*found)[v] = values[v][(*found)[v]];
  }
  return found;
}

}  // namespace yuba::search
