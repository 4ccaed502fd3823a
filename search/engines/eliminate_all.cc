#include <utility>

#include "search/engines/engine.h"

namespace yuba::search {

void EliminateAll(Task& task, Incumbent& incumbent) {
  const Problem& problem = task.problem();
  const std::vector<int>& order = task.order()->variables;
  const absl::optional<Solution> exact = Eliminate(problem.pairwise, order, task.budget());
  if (!exact.has_value()) return;
  Candidate found;
  found.choices = problem.ChoicesOf(exact->assignment);
  found.proof.kind = ProofKind::kElimination;
  found.proof.order = problem.ElementOrder(order);
  found.lower_bound = exact->cost;
  incumbent.Offer(std::move(found));
}

}  // namespace yuba::search
