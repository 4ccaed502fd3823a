#include "search/engines/engine.h"
#include "search/rewrite/copies.h"

namespace yuba::search {

void SearchUncopied(Task& task, Incumbent& incumbent) {
  const Uncopied bare = WithoutCopies(task.graph());
  SearchOptions options = NamedWithin("uncopied", task.options());
  // What these would find, they find later from here, with copies.
  options.without.insert(options.without.end(), {"levels", "repeat", "local", "anchored"});
  if (incumbent.HasPlan()) options.known_value = incumbent.bytes();
  Task uncopied(bare.graph, options, task.restrictions(), task.budget());
  const absl::StatusOr<Plan> plan = RunEngines(uncopied);
  if (!plan.ok()) return;
  // Each copy has the sharding of its tensor.
  incumbent.Offer(ChoicesWithCopies(task.graph(), bare, AllChoices(*plan)));
}

}  // namespace yuba::search
