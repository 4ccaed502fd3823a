// The optimum, or a bound close to it, of a problem whose tables of values do not fit, but whose
// tables by classes of values do.
//
// First, variables that meet at most two others are eliminated plainly (fold.h). The rest is
// relaxed to classes and eliminated up and down, which gives a first bound B. Then pruned
// elimination (pruned_elimination.h) asks whether anything costs at most B + 0.2 %, B + 0.4 %, B +
// 0.8 %, ...: a no raises the bound, a yes is the optimum.
#ifndef YUBA_SEARCH_SOLVE_RAISE_THRESHOLD_H_
#define YUBA_SEARCH_SOLVE_RAISE_THRESHOLD_H_

#include <cstdint>
#include <vector>

#include "absl/types/optional.h"
#include "search/solve/eliminate.h"
#include "search/solve/relax.h"

namespace yuba::search {

struct RaiseThresholdOptions {
  int64_t fold_cells = int64_t{1} << 18;   // the largest table of plain elimination
  int64_t class_cells = int64_t{1} << 18;  // the largest table by classes
  int64_t most_cells = int64_t{1} << 26;   // of all tables of pruned elimination together
  int64_t work = int64_t{1} << 31;         // of pruned elimination: sums, about one a nanosecond
};

struct RaisedThreshold {
  Solution solution;       // no dearer than the start; the optimum where it costs `bound`
  int64_t bound = 0;       // no assignment costs less
  std::vector<int> order;  // of elimination, all variables
  int plain = 0;           // how many of them, from the first, were eliminated plainly
};

// `classes`: by variable; symmetries map values within their class. `start`: any solution. Nothing
// where the tables do not fit, or where the budget is spent before there is a bound; where it is
// spent later, the best by then.
absl::optional<RaisedThreshold> RaiseThreshold(const PairwiseProblem& problem,
                                               const std::vector<ClassesPtr>& classes,
                                               const Solution& start,
                                               const RaiseThresholdOptions& options,
                                               const Budget& budget = Budget::Unlimited());

}  // namespace yuba::search

#endif  // YUBA_SEARCH_SOLVE_RAISE_THRESHOLD_H_
