// The plain solvers of a pairwise problem; rows of memory are not looked at. Exact where the tables
// fit; local search for any problem.
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

// Large-neighbourhood search, for problems whose tables do not fit: in each round some variables
// keep their values, such that the others can be eliminated exactly with small tables. Tables of
// one domain's size leave a forest free in each round; larger ones leave wider graphs.
struct ImproveOptions {
  int64_t cells = 1 << 14;          // the largest table of a round
  int patience = 4;                 // it ends after so many rounds without a gain
  int rounds = 64;                  // and after so many in all
  int64_t work = int64_t{1} << 32;  // and after so many sums of costs, about one a nanosecond
};

// A solution that costs no more than `start`. Deterministic; where the budget is spent, the best by
// then.
Solution Improve(const PairwiseProblem& problem, const Solution& start,
                 const ImproveOptions& options, const Budget& budget = Budget::Unlimited());

// A good solution of any problem: improves all starts (at least one) by local search with small
// tables, then the best of them with wider tables, of at most `table_cells` cells. Never dearer
// than the cheapest start. Where the budget is spent, the best by then.
Solution SolveLocally(const PairwiseProblem& problem, const std::vector<Assignment>& starts,
                      int64_t table_cells, const Budget& budget = Budget::Unlimited());

}  // namespace yuba::search

#endif  // YUBA_SEARCH_SOLVE_SOLVE_H_
