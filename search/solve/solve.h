// The solver of a pairwise problem: exact where the tables fit, else as good as can be had.
#ifndef YUBA_SEARCH_SOLVE_SOLVE_H_
#define YUBA_SEARCH_SOLVE_SOLVE_H_

#include <cstdint>
#include <vector>

#include "absl/types/optional.h"
#include "search/solve/eliminate.h"

namespace yuba::search {

// The optimum and the order of elimination that finds it, with the sums that it takes; nothing
// where the tables do not fit, or the budget is spent.
struct ExactSolution {
  Solution solution;
  std::vector<int> order;
  int64_t sums = 0;
};
absl::optional<ExactSolution> SolveExactly(const PairwiseProblem& problem, int64_t table_cells,
                                           const Budget& budget = Budget::Unlimited());

// A good solution of any problem: the best of what local search makes of the starts (at least one),
// searched further as far as the budget goes.
Solution SolveLocally(const PairwiseProblem& problem, const std::vector<Assignment>& starts,
                      int64_t table_cells, const Budget& budget = Budget::Unlimited());

}  // namespace yuba::search

#endif  // YUBA_SEARCH_SOLVE_SOLVE_H_
