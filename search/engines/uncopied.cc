#include "search/engines/engine.h"
#include "search/rewrite/copies.h"

namespace yuba::search {
namespace {

// Offers the plan of the graph without copies. What costs more than `known_value` is not looked
// for; 0: any plan is of use.
void OfferUncopied(Task& task, int64_t known_value, Incumbent& incumbent) {
  const Uncopied bare = WithoutCopies(task.graph());
  SearchOptions options = NamedWithin("uncopied", task.options());
  // What these would find, they find later from here, with copies.
  options.without.insert(options.without.end(), {"levels", "repeat", "local", "anchored"});
  options.known_value = known_value;
  Task uncopied(bare.graph, options, task.restrictions(), task.budget());
  const absl::StatusOr<Plan> plan = RunEngines(uncopied);
  if (!plan.ok()) return;
  // Each copy has the sharding of its tensor.
  incumbent.Offer(ChoicesWithCopies(task.graph(), bare, AllChoices(*plan)));
}

}  // namespace

void SearchUncopied(Task& task, Incumbent& incumbent) {
  const bool known = incumbent.HasPlan();
  OfferUncopied(task, known ? incumbent.bytes() : task.options().known_value, incumbent);
}

void AxesFromUncopied(Task& task, Incumbent& incumbent) {
  // As a start a plan is of use that costs more than the one with copies.
  OfferUncopied(task, 0, incumbent);
  if (!task.time_left().ShouldStop()) PlaceAxes(task, incumbent);
}

}  // namespace yuba::search
