#include "search/baselines/baselines.h"

#include <algorithm>
#include <vector>

#include "search/engines/engine.h"

namespace yuba::search {
namespace {

// The plans of those baselines that replicate, or of those that do not, each once. Axes of a
// product may nest in any order.
void Offer(bool replicates, Task& task, Incumbent& incumbent) {
  const SearchOptions& options = task.options();
  const BaselineOptions asked = {options.mesh, options.objective, options.table_cells};
  const Budget& budget = task.time_left();
  std::vector<const Baseline*> offered;
  for (const Baseline& baseline : Baselines()) {
    if (baseline.replicates != replicates || budget.ShouldStop()) continue;
    if (baseline.IsProduct() && (NestsByLevel(options) || IsPure(baseline, options.mesh))) continue;
    const auto is_same = [&](const Baseline* other) { return HaveSamePlans(*other, baseline); };
    if (std::any_of(offered.begin(), offered.end(), is_same)) continue;
    offered.push_back(&baseline);
    incumbent.Offer(task.FromWhole(FindCheapest(baseline, task.whole(), asked, budget)));
  }
}

}  // namespace

void OfferBaselines(Task& task, Incumbent& incumbent) { Offer(false, task, incumbent); }

void OfferReplicating(Task& task, Incumbent& incumbent) { Offer(true, task, incumbent); }

}  // namespace yuba::search
