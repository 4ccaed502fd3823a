// Exact min-marginals of a problem by bucket elimination, up and down (Dechter 1999): for every
// assignment of a bucket's scope the least cost of what the bucket has eliminated, and of all else.
#ifndef YUBA_SEARCH_SOLVE_MIN_MARGINALS_H_
#define YUBA_SEARCH_SOLVE_MIN_MARGINALS_H_

#include <cstdint>
#include <vector>

#include "absl/types/optional.h"
#include "search/solve/budget.h"
#include "search/solve/pairwise.h"

namespace yuba::search {

// One step of elimination. Joint: the scope, then the variable; whoever is eliminated later comes
// first, so the variable of the parent is the last of the scope.
struct Bucket {
  int variable = 0;
  std::vector<int> scope;
  std::vector<int> factors;   // of the problem, that meet here
  std::vector<int> children;  // buckets whose result meets here
  Cells up;                   // by scope, row-major: the least cost of this bucket and all below it
  Cells down;                 // the least cost of all other factors
};

struct BucketTree {
  std::vector<Bucket> buckets;  // in the order of elimination
  int64_t least = 0;            // of the problem
  // By variable and value, where asked for: the least cost of any assignment that has it.
  std::vector<std::vector<int64_t>> of_value;
};

// `order`: all variables, each once. Tables have the sizes that the order gives them. Nothing where
// the budget was spent before the end.
absl::optional<BucketTree> MinMarginals(const PairwiseProblem& problem,
                                        const std::vector<int>& order,
                                        const Budget& budget = Budget::Unlimited(),
                                        bool of_value = false);

}  // namespace yuba::search

#endif  // YUBA_SEARCH_SOLVE_MIN_MARGINALS_H_
