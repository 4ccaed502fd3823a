#include "search/solve/solve.h"

#include <algorithm>
#include <utility>

#include "search/solve/improve.h"
#include "search/solve/parallel.h"

namespace yuba::search {
namespace {

constexpr int64_t kLocalCells = int64_t{1} << 16;  // the largest table of local search

}  // namespace

absl::optional<ExactSolution> SolveExactly(const PairwiseProblem& problem, int64_t table_cells,
                                           const Budget& budget) {
  absl::optional<Order> order = GreedyOrder(problem, table_cells, budget);
  if (!order.has_value()) return absl::nullopt;
  absl::optional<Solution> solution = Eliminate(problem, order->variables, budget);
  if (!solution.has_value()) return absl::nullopt;
  return ExactSolution{*std::move(solution), std::move(order->variables), order->sums};
}

Solution SolveLocally(const PairwiseProblem& problem, const std::vector<Assignment>& starts,
                      int64_t table_cells, const Budget& budget) {
  int64_t largest_domain = 1;
  for (const DomainPtr& domain : problem.variables) {
    largest_domain = std::max<int64_t>(largest_domain, domain->size);
  }
  ImproveOptions trees;
  trees.cells = std::min(table_cells, largest_domain);
  trees.work = int64_t{1} << 30;
  std::vector<Solution> improved(starts.size());
  ParallelFor(budget.threads(), static_cast<int64_t>(starts.size()), [&](int64_t i) {
    improved[i] = Improve(problem, {starts[i], CostOf(problem, starts[i])}, trees, budget);
  });
  // The first of the cheapest.
  Solution best =
      *std::min_element(improved.begin(), improved.end(),
                        [](const Solution& a, const Solution& b) { return a.cost < b.cost; });
  ImproveOptions wider;
  wider.cells = std::min({table_cells, largest_domain * largest_domain, kLocalCells});
  wider.rounds = 24;
  wider.patience = 6;
  wider.work = int64_t{1} << 32;
  return Improve(problem, best, wider, budget);
}

}  // namespace yuba::search
