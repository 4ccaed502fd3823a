// The plain solvers of a pairwise problem; rows of memory are not looked at. Exact where the tables
// fit; local search for any problem.
#ifndef YUBA_SEARCH_SOLVE_SOLVE_H_
#define YUBA_SEARCH_SOLVE_SOLVE_H_

#include <cstdint>
#include <vector>

#include "absl/types/optional.h"
#include "search/solve/eliminate.h"

namespace yuba::search {

// The optimum, with the order of elimination that finds it. Nothing where a table would have more
// than `table_cells` cells (GreedyOrder), or the budget is spent.
struct ExactSolution {
  Solution solution;
  std::vector<int> order;
};
absl::optional<ExactSolution> SolveExactly(const PairwiseProblem& problem, int64_t table_cells,
                                           const Budget& budget = Budget::Unlimited());

// Large-neighbourhood search, for problems whose tables do not fit: in each round some variables
// keep their values, such that the others can be eliminated exactly with small tables.
struct LocalOptions {
  // The largest table of a round; at least one domain's size, which leaves a forest free. Larger
  // ones leave wider graphs.
  int64_t cells = 0;
  // Rounds without a gain, after which it ends: further ones seldom have one. And rounds in all.
  int patience = 6, rounds = 64;
  // Sums of costs from each start, about one a nanosecond.
  int64_t work = int64_t{1} << 30;
};

// A good solution of any problem: improves all starts (at least one) and takes the best, which is
// never dearer than the cheapest start. Deterministic; where the budget is spent, the best by then.
Solution SolveLocally(const PairwiseProblem& problem, const std::vector<Assignment>& starts,
                      const LocalOptions& options = {}, const Budget& budget = Budget::Unlimited());

}  // namespace yuba::search

#endif  // YUBA_SEARCH_SOLVE_SOLVE_H_
