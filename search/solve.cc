#include "search/solve.h"

#include <algorithm>

#include "search/improve.h"

namespace yuba {

Outcome Solve(const PairwiseProblem& problem, int64_t table_cells, const Assignment& start) {
  Outcome outcome;
  if (absl::optional<std::vector<int>> order = GreedyOrder(problem, table_cells)) {
    outcome.order = *std::move(order);
    outcome.solution = Eliminate(problem, outcome.order);
    outcome.exact = true;
    return outcome;
  }
  outcome.solution.assignment =
      start.empty() ? Assignment(problem.variables.size(), 0) : start;
  outcome.solution.cost = CostOf(problem, outcome.solution.assignment);
  int64_t largest_domain = 1;
  for (const DomainPtr& domain : problem.variables) {
    largest_domain = std::max<int64_t>(largest_domain, domain->size);
  }
  ImproveOptions trees;
  trees.cells = largest_domain;
  outcome.solution = Improve(problem, outcome.solution, trees);
  ImproveOptions wider;
  wider.cells = std::min(table_cells, largest_domain * largest_domain);
  wider.rounds = 12;
  wider.patience = 3;
  outcome.solution = Improve(problem, outcome.solution, wider);
  return outcome;
}

}  // namespace yuba
