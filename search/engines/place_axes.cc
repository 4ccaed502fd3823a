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
  task.axes = std::make_unique<AxisAssigner>(task.graph(), AxisOptionsOf(task, incumbent),
                                             task.uses(), task.likely_grids, task.restrictions());
  Choices found = task.axes->Find();
  if (task.on_tables() && !task.limited()) {
    // Clusters allow fewer choices than axes do.
    const Problem& problem = task.problem();
    if (problem.complete) found = problem.ChoicesOf(problem.ValuesOf(found));
  }
  incumbent.Offer(std::move(found));
}

void ImproveAxes(Task& task, Incumbent& incumbent) {
  incumbent.Offer(task.axes->Improve(incumbent.choices()));
}

}  // namespace yuba::search
