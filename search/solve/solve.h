// The two plain solvers of a pairwise problem without rows of memory: exact where the tables fit,
// and local search for any problem.
#ifndef YUBA_SEARCH_SOLVE_SOLVE_H_
#define YUBA_SEARCH_SOLVE_SOLVE_H_

#include <cstdint>
#include <vector>

#include "absl/types/optional.h"
#include "search/solve/eliminate.h"

namespace yuba::search {

// The optimum, with the order of elimination that finds it and the sums that it takes. Nothing
// where a table would have more than `table_cells` cells (GreedyOrder), or the budget is spent.
struct ExactSolution {
  Solution solution;
  std::vector<int> order;
  int64_t sums = 0;
};
absl::optional<ExactSolution> SolveExactly(const PairwiseProblem& problem, int64_t table_cells,
                                           const Budget& budget = Budget::Unlimited());

// A good solution of any problem: improves all starts (at least one) by local search with small
// tables, then the best of them with wider tables, of at most `table_cells` cells. Never dearer
// than the cheapest start. Where the budget is spent, the best by then.
Solution SolveLocally(const PairwiseProblem& problem, const std::vector<Assignment>& starts,
                      int64_t table_cells, const Budget& budget = Budget::Unlimited());

}  // namespace yuba::search

#endif  // YUBA_SEARCH_SOLVE_SOLVE_H_
