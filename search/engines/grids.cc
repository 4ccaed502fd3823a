#include <limits>
#include <utility>

#include "search/engines/engine.h"
#include "search/model/grid_bound.h"
#include "search/model/grid_counts.h"

namespace yuba::search {

void BoundGrids(Task& task, Incumbent& incumbent) {
  const SearchOptions& options = task.options();
  // Without a bound the grids to start from would be arbitrary, and axes for them no better.
  if (HasTooManyGrids(task.graph(), options.mesh, task.uses(), false)) return;
  LowerBound bound = DualBound(task.graph(), options.mesh, task.uses(), task.time_left(),
                               std::numeric_limits<double>::infinity(), options.table_cache.get(),
                               task.restrictions());
  task.likely_grids = std::move(bound.grids);
  task.likely_values = std::move(bound.values);
  task.tiled = bound.tiled;
  if (bound.bytes > 0) incumbent.Offer(ProvedBound(bound.bytes, std::move(bound.proof)));
}

}  // namespace yuba::search
