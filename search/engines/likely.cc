#include <algorithm>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "search/engines/engine.h"
#include "search/plan/grid.h"
#include "search/solve/solve.h"
#include "search/space/grid_space.h"

namespace yuba::search {
namespace {

constexpr int64_t kCells = int64_t{1} << 25;       // of all cost tables
constexpr int64_t kTableCells = int64_t{1} << 22;  // of one table of the elimination

// [element]: the grids that are likely, and that of the plan. Elements of equal spaces share a
// list, of what is likely for any of them, so that equal uses share their tables.
std::vector<GridList> LikelyGrids(const Task& task, const Choices& plan) {
  using Space = std::tuple<std::vector<int64_t>, std::vector<bool>, bool, std::string>;
  std::map<Space, std::set<Grid>> of_space;
  std::vector<std::set<Grid>*> of_element;
  for (size_t e = 0; e < plan.size(); ++e) {
    const ChoiceSpace space = SpaceOf(task.graph(), static_cast<int>(e));
    const std::string pin = task.pinned() ? Key(task.restrictions()[e]) : "";
    std::set<Grid>& grids = of_space[{space.extents, space.cuttable, space.optional, pin}];
    grids.insert(task.likely_grids[e].begin(), task.likely_grids[e].end());
    grids.insert(GridOf(plan[e], task.options().mesh));
    of_element.push_back(&grids);
  }
  std::map<const std::set<Grid>*, GridList> lists;
  std::vector<GridList> grids;
  for (const std::set<Grid>* of : of_element) {
    GridList& list = lists[of];
    if (list == nullptr) list = std::make_shared<const std::vector<Grid>>(of->begin(), of->end());
    grids.push_back(list);
  }
  return grids;
}

// Whether the cost tables of all choices of these grids are of a size to be made; equal uses share
// a table.
bool FitInTables(const std::vector<TensorUse>& uses, const std::vector<GridList>& grids,
                 const SearchOptions& options) {
  std::map<GridList, int64_t> counts;  // choices
  for (const GridList& list : grids) {
    int64_t& count = counts[list];
    if (count > 0) continue;
    for (const Grid& grid : *list) {
      count += CountChoicesOfGrid(grid, options.mesh, options.nesting == Nesting::kLevel);
    }
  }
  const int64_t most = std::min(kCells, options.table_cells);
  std::set<std::tuple<int, GridList, GridList>> tables;
  int64_t cells = 0;
  for (const TensorUse& use : uses) {
    const GridList &tensor = grids[use.tensor], &node = grids[use.node];
    if (!tables.insert({use.kind, tensor, node}).second) continue;
    if (counts[tensor] > most / counts[node]) return false;
    cells += counts[tensor] * counts[node];
    if (cells > most) return false;
  }
  return true;
}

}  // namespace

void SolveLikely(Task& task, Incumbent& incumbent) {
  ProblemOptions options = AllAxesOf(task.options(), task.restrictions(), task.budget());
  options.grids = LikelyGrids(task, incumbent.choices());
  if (!FitInTables(task.uses(), options.grids, task.options())) return;
  const Problem problem = BuildProblem(task.graph(), options);
  if (!problem.complete) return;
  const auto exact = SolveExactly(problem.pairwise, kTableCells, task.budget());
  if (exact.has_value()) incumbent.Offer(problem.ChoicesOf(exact->solution.assignment));
}

}  // namespace yuba::search
