#include "search/baselines/baselines.h"

#include <utility>

#include "search/engines/engine.h"
#include "search/rewrite/copies.h"

namespace yuba::search {
namespace {

// The plans of those baselines that replicate, or of those that do not. Baselines know no copies.
void Offer(bool replicates, Task& task, Incumbent& incumbent) {
  const SearchOptions& options = task.options();
  const Budget& budget = task.time_left();
  const Uncopied bare = WithoutCopies(task.whole());
  for (const Baseline& baseline : Baselines()) {
    if (baseline.replicates != replicates || budget.ShouldStop()) continue;
    Choices found = baseline.find(bare.graph, options.mesh, options.table_cells, budget);
    incumbent.Offer(task.FromWhole(ChoicesWithCopies(task.whole(), bare, std::move(found))));
  }
}

}  // namespace

void OfferBaselines(Task& task, Incumbent& incumbent) { Offer(false, task, incumbent); }

void OfferReplicating(Task& task, Incumbent& incumbent) { Offer(true, task, incumbent); }

}  // namespace yuba::search
