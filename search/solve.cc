#include "search/solve.h"

#include <algorithm>
#include <utility>

#include "search/improve.h"

namespace yuba {

absl::optional<ExactSolution> SolveExactly(const PairwiseProblem& problem, int64_t table_cells) {
  absl::optional<std::vector<int>> order = GreedyOrder(problem, table_cells);
  if (!order.has_value()) return absl::nullopt;
  ExactSolution exact;
  exact.solution = Eliminate(problem, *order);
  exact.order = *std::move(order);
  return exact;
}

Solution SolveLocally(const PairwiseProblem& problem, const Assignment& start,
                      int64_t table_cells) {
  Solution solution = {start, CostOf(problem, start)};
  int64_t largest_domain = 1;
  for (const DomainPtr& domain : problem.variables) {
    largest_domain = std::max<int64_t>(largest_domain, domain->size);
  }
  ImproveOptions trees;
  trees.cells = std::min(table_cells, largest_domain);
  solution = Improve(problem, solution, trees);
  ImproveOptions wider;
  wider.cells = std::min(table_cells, largest_domain * largest_domain);
  wider.rounds = 12;
  wider.patience = 3;
  return Improve(problem, solution, wider);
}

}  // namespace yuba
