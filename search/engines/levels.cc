#include "search/engines/levels.h"

#include <algorithm>
#include <utility>

#include "search/engines/engine.h"
#include "search/model/recursion.h"

namespace yuba::search {
namespace {

// Cells of all cost tables of the axes that are placed together where pins allow several.
constexpr int64_t kWidestCells = int64_t{1} << 22;
// The largest table where the plan is only a start of the local search on tables.
constexpr int64_t kStartCells = int64_t{1} << 20;

}  // namespace

void SearchLevels(Task& task, Incumbent& incumbent) {
  const SearchOptions& options = task.options();
  const Budget& budget = task.time_left();
  const ProblemOptions base = OptionsOf(options, task.restrictions(), budget);
  const Groups levels = GroupsOf(options.mesh, 1);
  int64_t cells = options.table_cells;
  if (task.on_tables()) cells = std::min(cells, kStartCells);
  // Pins that do not nest by level let later axes go outside earlier ones: far more choices.
  const bool widest = task.pinned() && !task.on_tables() && NestByLevel(task.restrictions());
  if (widest) {
    const Groups groups = WidestGroups(task.graph(), options.mesh, kWidestCells);
    incumbent.Offer(SearchGroups(task.graph(), base, groups, cells).choices);
    if (groups.size() == levels.size() || budget.ShouldStop()) return;
  }
  incumbent.Offer(SearchGroups(task.graph(), base, levels, cells).choices);
}

Plan SearchRecursive(const Graph& graph, const SearchOptions& options,
                     const Restrictions& restrictions, const Budget& budget) {
  Candidate found = SearchGroups(graph, OptionsOf(options, restrictions, budget),
                                 GroupsOf(options.mesh, 1), options.table_cells);
  if (!restrictions.empty()) {
    found.proof = Proof();
    found.lower_bound = 0;
  }
  Plan plan = PlanOf(graph, options, std::move(found));
  if (budget.end() == Budget::End::kNone || !restrictions.empty()) return plan;
  SearchOptions by_level = options;
  by_level.nesting = Nesting::kLevel;
  Task late(graph, by_level, restrictions, budget);
  Incumbent incumbent(graph, by_level, restrictions);
  BoundGrids(late, incumbent);
  PlaceAxes(late, incumbent);
  if (!incumbent.HasPlan() || incumbent.bytes() >= plan.cost.bytes()) return plan;
  return incumbent.Take().value();
}

}  // namespace yuba::search
