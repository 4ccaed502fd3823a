#include "search/engines/levels.h"

#include <algorithm>
#include <utility>

#include "search/engines/engine.h"
#include "search/engines/pins.h"
#include "search/model/recursion.h"

namespace yuba::search {
namespace {

// The largest table where the plan is only a start of the local search on tables.
constexpr int64_t kStartCells = int64_t{1} << 20;

}  // namespace

void SearchLevels(Task& task, Incumbent& incumbent) {
  const SearchOptions& options = task.options();
  const Graph& graph = task.whole();
  Restrictions met = task.restrictions();
  if (task.limited()) met = MetWithoutReplicas(graph, options.mesh, std::move(met));
  const ProblemOptions base = OptionsOf(options, met, task.time_left());
  int64_t cells = options.table_cells;
  if (task.on_tables()) cells = std::min(cells, kStartCells);
  Candidate found = SearchGroups(graph, base, GroupsOf(options.mesh, 1), cells);
  const bool as_asked = !task.limited() && !task.pinned() && !task.on_tables() &&
                        task.budget().end() == Budget::End::kNone;
  Choices choices = task.FromWhole(std::move(found.choices));
  if (as_asked && options.by_level) {
    Candidate alone;
    alone.choices = choices;
    options.by_level(task.graph(), PlanOf(task.graph(), options, std::move(alone)).cost.bytes());
  }
  incumbent.Offer(std::move(choices));
}

Plan SearchRecursive(const Graph& graph, const SearchOptions& options,
                     const Restrictions& restrictions, const Budget& budget) {
  Candidate found = SearchGroups(graph, OptionsOf(options, restrictions, budget),
                                 GroupsOf(options.mesh, 1), options.table_cells);
  Plan plan = PlanOf(graph, options, std::move(found));
  if (budget.end() == Budget::End::kNone) return plan;
  SearchOptions by_level = options;
  by_level.nesting = Nesting::kLevel;
  Task late(graph, by_level, restrictions, budget);
  Incumbent incumbent(graph, by_level, restrictions);
  BoundGrids(late, incumbent);
  PlaceAxes(late, incumbent);
  if (!incumbent.HasPlan() || incumbent.bytes() >= plan.value()) return plan;
  return incumbent.Take().value();
}

}  // namespace yuba::search
