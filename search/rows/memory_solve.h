// The solver of any pairwise problem with rows of memory, as those of the IOPDDL contest: a good
// assignment within the limit, and a bound. Every thread takes three kinds of turns: it raises the
// bound (memory_dual.h); it starts a search at what the messages prefer then, and goes on with it
// while it is better than the usual start (start_ranking.h); and it goes on with its best search.
//
// A local search seldom leaves the region of assignments where it starts, whatever its seed, but
// between steps of the dual the messages change their mind about large parts of the problem; and a
// dual that is stuck begins again, with messages in another order. So many short searches from
// there find what one long search does not.
#ifndef YUBA_SEARCH_ROWS_MEMORY_SOLVE_H_
#define YUBA_SEARCH_ROWS_MEMORY_SOLVE_H_

#include <cstdint>

#include "absl/status/statusor.h"
#include "search/solve/budget.h"
#include "search/solve/pairwise.h"

namespace yuba::search {

struct MemorySolveOptions {
  // Steps of the dual before each start. With fewer, starts resemble each other; with more, there
  // are few on large problems.
  int steps = 50;
  // Rounds of a start, for each variable, before it is compared with others for the first time:
  // enough to see which are hopeless.
  double rounds = 0.25;
  // Times the least cost: a thread whose best search is dearer goes on from the best of all.
  double behind = 1.005;
};

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
absl::StatusOr<MemorySolution> SolveWithMemory(const PairwiseProblem& problem, const Budget& budget,
                                               const MemorySolveOptions& options = {});

}  // namespace yuba::search

#endif  // YUBA_SEARCH_ROWS_MEMORY_SOLVE_H_
