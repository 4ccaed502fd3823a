#include <utility>

#include "search/engines/engine.h"

namespace yuba::search {

AxisOptions AxisOptionsOf(Task& task, const Incumbent& incumbent) {
  AxisOptions options;
  options.mesh = task.options().mesh;
  options.nesting = task.options().nesting;
  options.budget = &task.time_left();
  options.bound = incumbent.bound().bytes();
  return options;
}

void PlaceAxes(Task& task, Incumbent& incumbent) {
  AxisOptions options = AxisOptionsOf(task, incumbent);
  options.starts = incumbent.starts();
  Choices found =
      AssignAxes(task.graph(), options, task.uses(), task.likely_grids, task.restrictions());
  if (task.on_tables() && !task.limited()) {
    // Clusters allow fewer choices than axes do.
    const Problem& problem = task.problem();
    if (problem.complete) found = problem.ChoicesOf(problem.ValuesOf(found));
  }
  incumbent.Offer(std::move(found));
}

}  // namespace yuba::search
