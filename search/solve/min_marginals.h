// Exact min-marginals of a problem by bucket elimination, up and down (Dechter, "Bucket
// elimination: a unifying framework for reasoning", 1999): for every assignment of a step's scope
// the least cost of everything eliminated by then, and of everything else. Their sum is the least
// cost of any assignment that has these values, so all that is above a limit can be left out.
#ifndef YUBA_SEARCH_SOLVE_MIN_MARGINALS_H_
#define YUBA_SEARCH_SOLVE_MIN_MARGINALS_H_

#include <cstdint>
#include <vector>

#include "absl/types/optional.h"
#include "search/solve/budget.h"
#include "search/solve/pairwise.h"

namespace yuba::search {

// One step of elimination. `scope`: the variables that its tables contain besides `variable`. All
// are eliminated later; the one that is eliminated last comes first, so the last of the scope is
// the variable of the parent bucket.
struct Bucket {
  int variable = 0;
  std::vector<int> scope;
  std::vector<int> factors;   // of the problem: those whose first eliminated variable is this one
  std::vector<int> children;  // buckets whose parent this one is
  Cells up;    // by scope, row-major: the least cost of the factors here and in all buckets below
  Cells down;  // by scope, row-major: the least cost of all other factors
};

struct BucketTree {
  std::vector<Bucket> buckets;  // in the order of elimination
  int64_t least = 0;            // of the problem
  // [variable][value], where asked for: the least cost of any assignment that has that value.
  std::vector<std::vector<int64_t>> of_value;
};

// `order`: all variables, each once; the sizes of the tables follow from it, so look at them before
// (GreedyOrder). Nothing where the budget was spent before the end.
absl::optional<BucketTree> MinMarginals(const PairwiseProblem& problem,
                                        const std::vector<int>& order,
                                        const Budget& budget = Budget::Unlimited(),
                                        bool of_value = false);

}  // namespace yuba::search

#endif  // YUBA_SEARCH_SOLVE_MIN_MARGINALS_H_
