// The rows of memory that matter, of a core. Dropped are points of time that another dominates (at
// which any assignment uses at most as much as at the other), and those at which no assignment
// exceeds the limit.
#ifndef YUBA_SEARCH_ROWS_MEMORY_PRESOLVE_H_
#define YUBA_SEARCH_ROWS_MEMORY_PRESOLVE_H_

#include "search/rows/memory_core.h"
#include "search/solve/pairwise.h"

namespace yuba::search {

// Fills uses, buffers, rows and least_peak of a core that has its variables and edges.
void MakeRows(const PairwiseProblem& problem, MemoryCore& core);

}  // namespace yuba::search

#endif  // YUBA_SEARCH_ROWS_MEMORY_PRESOLVE_H_
