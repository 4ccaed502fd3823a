// Exact min-marginals of a problem by bucket elimination, up and down: for every assignment of a
// bucket's scope the least cost of everything eliminated by then, and of everything else. Their sum
// is the least cost of any assignment that has these values, so all that is above a limit can be
// left out.
#ifndef YUBA_SEARCH_SOLVE_MIN_MARGINALS_H_
#define YUBA_SEARCH_SOLVE_MIN_MARGINALS_H_

#include <vector>

#include "absl/types/optional.h"
#include "search/solve/bucket_tree.h"
#include "search/solve/budget.h"
#include "search/solve/pairwise.h"

namespace yuba::search {

// The tree with `up` and `down` of all buckets, and `of_value` where that is asked for. `order`:
// all variables, each once; the sizes of the tables follow from it, so look at them before
// (GreedyOrder). Nothing where the budget was spent before the end.
absl::optional<BucketTree> MinMarginals(const PairwiseProblem& problem,
                                        const std::vector<int>& order,
                                        const Budget& budget = Budget::Unlimited(),
                                        bool of_value = false);

}  // namespace yuba::search

#endif  // YUBA_SEARCH_SOLVE_MIN_MARGINALS_H_
