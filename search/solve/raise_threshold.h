// The optimum, or a bound close to it, of a problem whose labelled tables do not fit, but whose
// tables by classes of values do: pruned elimination (pruned_elimination.h) with limits that grow.
#ifndef YUBA_SEARCH_SOLVE_RAISE_THRESHOLD_H_
#define YUBA_SEARCH_SOLVE_RAISE_THRESHOLD_H_

#include <cstdint>
#include <vector>

#include "absl/types/optional.h"
#include "search/solve/dual.h"
#include "search/solve/eliminate.h"

namespace yuba::search {

struct RaiseThresholdOptions {
  int64_t fold_cells = int64_t{1} << 18;   // the largest table of plain elimination
  int64_t class_cells = int64_t{1} << 18;  // the largest table by classes
  int64_t most_cells = int64_t{1} << 26;   // of all labelled tables together
  int64_t work = int64_t{1} << 31;         // sums, about one a nanosecond
};

struct RaisedThreshold {
  Solution solution;       // no dearer than the start; the optimum where it costs `bound`
  int64_t bound = 0;       // no assignment costs less
  std::vector<int> order;  // of elimination
  int plain = 0;           // how many of these, from the first, were eliminated without classes
};

// Nothing where the tables do not fit, or where the budget is spent before there is a bound; later,
// the best by then. `classes` by variable, closed under the symmetries.
absl::optional<RaisedThreshold> RaiseThreshold(const PairwiseProblem& problem,
                                               const std::vector<ClassesPtr>& classes,
                                               const Solution& start,
                                               const RaiseThresholdOptions& options,
                                               const Budget& budget = Budget::Unlimited());

}  // namespace yuba::search

#endif  // YUBA_SEARCH_SOLVE_RAISE_THRESHOLD_H_
