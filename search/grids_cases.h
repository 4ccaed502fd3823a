// Bounds of plans within a limit by cases, where tables are of grids.
#ifndef YUBA_SEARCH_GRIDS_CASES_H_
#define YUBA_SEARCH_GRIDS_CASES_H_

#include <cstdint>

#include "search/grid_problem.h"
#include "search/lower_bound.h"

namespace yuba {

// A bound better than `bound`, which is of prices: each case (memory_cases.h) has prices and
// messages of its own. Else `bound` itself. `known`: the bytes of a plan within the limit.
LowerBound BoundInCases(const Graph& graph, const GridProblem& problem, LowerBound bound,
                        int64_t known, const Budget& budget);

}  // namespace yuba

#endif  // YUBA_SEARCH_GRIDS_CASES_H_
