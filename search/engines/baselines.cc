#include "search/baselines/baselines.h"

#include "search/engines/engine.h"

namespace yuba::search {
namespace {

// The plans of those baselines that replicate, or of those that do not.
void Offer(bool replicates, Task& task, Incumbent& incumbent) {
  const SearchOptions& options = task.options();
  const Budget& budget = task.time_left();
  for (const Baseline& baseline : Baselines()) {
    if (baseline.replicates != replicates || budget.ShouldStop()) continue;
    incumbent.Offer(task.FromWhole(
        FindCheapest(baseline, task.whole(), options.mesh, options.table_cells, budget)));
  }
}

}  // namespace

void OfferBaselines(Task& task, Incumbent& incumbent) { Offer(false, task, incumbent); }

void OfferReplicating(Task& task, Incumbent& incumbent) { Offer(true, task, incumbent); }

}  // namespace yuba::search
