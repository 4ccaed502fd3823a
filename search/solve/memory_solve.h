// The solver of any pairwise problem with rows of memory, as those of the IOPDDL contest: a good
// assignment within the limit, and a bound. One thread raises the bound (memory_dual.h) while
// others search at its prices (memory_search.h); a single thread does one after the other.
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
  int64_t peak = 0;   // the most bytes in use
};

// Blocks until the budget is spent, unless the cost reaches the bound before; so the budget must
// have an end. With several threads, two runs may differ. FailedPrecondition where nothing is
// within the limit, or nothing was found in time; the message says which. Cancelled where nothing
// had been found when somebody asked for the end.
absl::StatusOr<MemorySolution> SolveWithMemory(const PairwiseProblem& problem,
                                               const Budget& budget);

}  // namespace yuba::search

#endif  // YUBA_SEARCH_SOLVE_MEMORY_SOLVE_H_
