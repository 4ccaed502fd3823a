#include <algorithm>

#include "search/engines/engine.h"
#include "search/engines/pins.h"

namespace yuba::search {
namespace {

constexpr double kShare = 0.3;    // of the time that is left
constexpr double kAtOnce = 1e-6;  // seconds: no time for anything but what a search begins with

}  // namespace

void SearchPlain(Task& task, Incumbent& incumbent) {
  const Graph& whole = task.whole();
  const SearchOptions options = NamedWithin("plain", Unlimited(task.options()));
  const Restrictions restrictions = MetWithoutReplicas(whole, options.mesh, task.restrictions());
  const Budget& all = task.budget();
  const double seconds = all.limited() ? std::max(kAtOnce, all.Left() * kShare) : 0;
  const Budget share(seconds, all.threads(), options.asked);
  for (const Budget* budget : {&share, &all}) {
    Task without(whole, options, restrictions, *budget);
    const absl::StatusOr<Plan> found = RunEngines(without);
    if (!found.ok()) return;
    incumbent.Offer(task.FromWhole(AllChoices(*found)));
    // No limit makes plans cheaper, replicas do.
    if (!task.replicated()) incumbent.Offer(ProvedBound(found->lower_bound, found->proof));
    task.plain_fits = incumbent.HasPlan();
    task.cut_short = share.end() == Budget::End::kTime;
    // A plan that fits is the answer, for which there is all the time.
    if (!task.cut_short || task.replicated() || !incumbent.HasPlan()) return;
    task.cut_short = false;
  }
}

}  // namespace yuba::search
