// The rows of memory that matter: points of time that another dominates, or that no assignment can
// fill beyond the limit, are dropped.
#ifndef YUBA_SEARCH_SOLVE_MEMORY_PRESOLVE_H_
#define YUBA_SEARCH_SOLVE_MEMORY_PRESOLVE_H_

#include "search/solve/memory_core.h"
#include "search/solve/pairwise.h"

namespace yuba::search {

// Fills uses, buffers, room and least_peak of a core whose variables are known.
void MakeRows(const PairwiseProblem& problem, MemoryCore& core);

}  // namespace yuba::search

#endif  // YUBA_SEARCH_SOLVE_MEMORY_PRESOLVE_H_
