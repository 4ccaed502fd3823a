#include "search/engines/engine.h"
#include "search/rewrite/copies.h"

namespace yuba::search {

void SearchUncopied(Task& task, Incumbent& incumbent) {
  const Uncopied bare = WithoutCopies(task.graph());
  const SearchOptions options = NamedWithin("uncopied", task.options());
  Task uncopied(bare.graph, options, task.restrictions(), task.budget());
  const absl::StatusOr<Plan> plan = RunEngines(uncopied);
  if (!plan.ok()) return;
  // Each copy has the sharding of its tensor.
  incumbent.Offer(ChoicesWithCopies(task.graph(), bare, AllChoices(*plan)));
}

}  // namespace yuba::search
