#include "search/solve.h"

#include <algorithm>
#include <utility>

#include "search/improve.h"

namespace yuba {
namespace {

constexpr int64_t kLocalCells = int64_t{1} << 16;  // a table of local search

}  // namespace

absl::optional<ExactSolution> SolveExactly(const PairwiseProblem& problem, int64_t table_cells) {
  absl::optional<std::vector<int>> order = GreedyOrder(problem, table_cells);
  if (!order.has_value()) return absl::nullopt;
  ExactSolution exact;
  exact.solution = Eliminate(problem, *order);
  exact.order = *std::move(order);
  return exact;
}

Solution SolveLocally(const PairwiseProblem& problem, const std::vector<Assignment>& starts,
                      int64_t table_cells) {
  int64_t largest_domain = 1;
  for (const DomainPtr& domain : problem.variables) {
    largest_domain = std::max<int64_t>(largest_domain, domain->size);
  }
  ImproveOptions trees;
  trees.cells = std::min(table_cells, largest_domain);
  trees.work = int64_t{1} << 30;
  Solution best;
  for (const Assignment& start : starts) {
    Solution next = Improve(problem, {start, CostOf(problem, start)}, trees);
    if (best.assignment.empty() || next.cost < best.cost) best = std::move(next);
  }
  ImproveOptions wider;
  wider.cells = std::min({table_cells, largest_domain * largest_domain, kLocalCells});
  wider.rounds = 24;
  wider.patience = 6;
  wider.work = int64_t{1} << 32;
  return Improve(problem, best, wider);
}

}  // namespace yuba
