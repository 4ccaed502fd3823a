// The solver of a pairwise problem with memory rows: a good assignment within the limit, and a
// bound.
#ifndef YUBA_SEARCH_SOLVE_MEMORY_SOLVE_H_
#define YUBA_SEARCH_SOLVE_MEMORY_SOLVE_H_

#include <cstdint>

#include "absl/status/statusor.h"
#include "search/solve/budget.h"
#include "search/solve/pairwise.h"

namespace yuba::search {

struct MemorySolution {
  Assignment assignment;
  int64_t cost = 0;
  int64_t bound = 0;  // no assignment within the limit costs less
  int64_t peak = 0;   // the most memory in use
};

// Takes all of the budget, unless cost equals bound before. With two threads or more one raises the
// bound while the others search. FailedPrecondition where nothing is within the limit, or nothing
// was found in time; the message says which. Cancelled where nothing was found when somebody asked
// for the end.
absl::StatusOr<MemorySolution> SolveWithMemory(const PairwiseProblem& problem,
                                               const Budget& budget);

}  // namespace yuba::search

#endif  // YUBA_SEARCH_SOLVE_MEMORY_SOLVE_H_
