// Large-neighbourhood search, for problems whose tables do not fit: in each round some variables
// keep their values, such that the others can be eliminated exactly with small tables. Tables of
// one domain's size leave a forest free in each round; larger ones leave wider graphs.
#ifndef YUBA_SEARCH_SOLVE_IMPROVE_H_
#define YUBA_SEARCH_SOLVE_IMPROVE_H_

#include <cstdint>

#include "search/solve/eliminate.h"

namespace yuba::search {

struct ImproveOptions {
  int64_t cells = 1 << 14;          // the largest table of a round
  int patience = 4;                 // it ends after so many rounds without a gain
  int rounds = 64;                  // and after so many in all
  int64_t work = int64_t{1} << 32;  // and after so many sums of costs, about one a nanosecond
};

// A solution that costs no more than `start`. Deterministic; where the budget is spent, the best by
// then. Rows of memory are not looked at.
Solution Improve(const PairwiseProblem& problem, const Solution& start,
                 const ImproveOptions& options, const Budget& budget = Budget::Unlimited());

}  // namespace yuba::search

#endif  // YUBA_SEARCH_SOLVE_IMPROVE_H_
