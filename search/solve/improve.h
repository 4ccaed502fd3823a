// Large-neighbourhood search, for problems whose elimination does not fit: round after round some
// variables keep their values so that the others can be solved exactly.
#ifndef YUBA_SEARCH_SOLVE_IMPROVE_H_
#define YUBA_SEARCH_SOLVE_IMPROVE_H_

#include <cstdint>

#include "search/solve/eliminate.h"

namespace yuba::search {

struct ImproveOptions {
  int64_t cells = 1 << 14;          // the largest table of a round
  int patience = 4;                 // rounds without progress before it ends
  int rounds = 64;                  // at most
  int64_t work = int64_t{1} << 32;  // sums of costs, about one a nanosecond
};

// Never costlier than `start`. The same arguments give the same result; where the budget is spent,
// the best by then.
Solution Improve(const PairwiseProblem& problem, const Solution& start,
                 const ImproveOptions& options, const Budget& budget = Budget::Unlimited());

}  // namespace yuba::search

#endif  // YUBA_SEARCH_SOLVE_IMPROVE_H_
