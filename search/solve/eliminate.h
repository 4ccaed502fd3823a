// Exact elimination of variables (min-sum): the cheapest assignment of a pairwise problem, where
// the tables that arise fit.
#ifndef YUBA_SEARCH_SOLVE_ELIMINATE_H_
#define YUBA_SEARCH_SOLVE_ELIMINATE_H_

#include <cstdint>
#include <functional>
#include <vector>

#include "absl/types/optional.h"
#include "search/solve/budget.h"
#include "search/solve/pairwise.h"

namespace yuba::search {

// Here nothing is returned where the budget was spent before the end.

// The greedy order: next the variable whose elimination leaves the smallest table. Nothing also
// where some table would have more than `cells` cells, all together more than 4 times as many, or
// where they would take more than 256 * `cells` sums.
struct Order {
  std::vector<int> variables;
  int64_t sums = 0;  // that elimination takes, about one a nanosecond
};
absl::optional<Order> GreedyOrder(const PairwiseProblem& problem, int64_t cells,
                                  const Budget& budget = Budget::Unlimited());

struct Solution {
  Assignment assignment;
  int64_t cost = 0;
};

// The optimum of the variables in `order`; the others keep their values in `given`. Of equal
// solutions the one with the least values, last eliminated first.
absl::optional<Solution> Eliminate(const PairwiseProblem& problem, const std::vector<int>& order,
                                   const Assignment& given,
                                   const Budget& budget = Budget::Unlimited());
absl::optional<Solution> Eliminate(const PairwiseProblem& problem, const std::vector<int>& order,
                                   const Budget& budget = Budget::Unlimited());  // of all

// What is left when the variables in `order` are eliminated: a problem of all others.
struct Remainder {
  PairwiseProblem problem;
  std::vector<int> variables;  // by variable of `problem`: its number before
  int64_t constant = 0;        // to be added to all costs
  // Values of those variables, with the best values of all that were eliminated. Not once the
  // problem or the budget is gone.
  std::function<Assignment(const Assignment& values)> extended;
};
absl::optional<Remainder> EliminateSome(const PairwiseProblem& problem,
                                        const std::vector<int>& order,
                                        const Budget& budget = Budget::Unlimited());

}  // namespace yuba::search

#endif  // YUBA_SEARCH_SOLVE_ELIMINATE_H_
