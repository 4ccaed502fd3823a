// The bound of a search that is not exact, with its proof, and a plan to start from.
#ifndef YUBA_SEARCH_LOWER_BOUND_H_
#define YUBA_SEARCH_LOWER_BOUND_H_

#include "search/plan.h"
#include "search/problem.h"

namespace yuba {

struct LowerBound {
  int64_t bytes = 0;
  Proof proof;
  Cuts cuts;  // good, where the bound is tight
};

// No plan that places all axes at once moves less.
LowerBound DualBound(const Graph& graph, ProblemOptions options);

}  // namespace yuba

#endif  // YUBA_SEARCH_LOWER_BOUND_H_
