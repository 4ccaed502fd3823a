// Exact elimination of variables (bucket elimination, min-sum): the cheapest assignment of a
// pairwise problem, where the tables that arise fit.
//
// To eliminate y from f(x, y) and g(y, z): h(x, z) = min over y of f(x, y) + g(y, z) replaces both.
// When no variable is left, one number is, the optimum; going back through the steps gives the
// values. Rows of memory are not looked at.
#ifndef YUBA_SEARCH_SOLVE_ELIMINATE_H_
#define YUBA_SEARCH_SOLVE_ELIMINATE_H_

#include <cstdint>
#include <vector>

#include "absl/types/optional.h"
#include "search/solve/budget.h"
#include "search/solve/pairwise.h"

namespace yuba::search {

// All functions of this file return nothing where the budget was spent before the end.

// The greedy order: next the variable whose elimination leaves the smallest table. Nothing also
// where a table would have more than `cells` cells, all tables together more than 4 * `cells`, or
// where they would take more than 256 * `cells` sums. Equal tables count once, as Eliminate makes
// them; with `each` they all count, for those who make all of them.
struct Order {
  std::vector<int> variables;
  int64_t sums = 0;  // additions that the elimination takes, about one a nanosecond
};
absl::optional<Order> GreedyOrder(const PairwiseProblem& problem, int64_t cells,
                                  const Budget& budget = Budget::Unlimited(), bool each = false);

struct Solution {
  Assignment assignment;
  int64_t cost = 0;
};

// The optimum over the variables in `order`, eliminated in that order; the others keep their values
// in `given`. Of equally cheap solutions the one with the least value of the variable eliminated
// last, then of the one before it, and so on. Its cost is of all factors.
absl::optional<Solution> Eliminate(const PairwiseProblem& problem, const std::vector<int>& order,
                                   const Assignment& given,
                                   const Budget& budget = Budget::Unlimited());
// The same for an order of all variables.
absl::optional<Solution> Eliminate(const PairwiseProblem& problem, const std::vector<int>& order,
                                   const Budget& budget = Budget::Unlimited());

}  // namespace yuba::search

#endif  // YUBA_SEARCH_SOLVE_ELIMINATE_H_
