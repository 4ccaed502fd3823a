// Splitting variables so that what is left can be eliminated: a variable whose elimination would
// leave too large a table becomes several copies, each of which keeps some of its factors
// (mini-buckets, Dechter and Rish 2003, as splitting of nodes: Choi, Chavira and Darwiche 2007).
// Copies may have different values, so the split problem is a relaxation.
#ifndef YUBA_SEARCH_SPLIT_H_
#define YUBA_SEARCH_SPLIT_H_

#include <cstdint>
#include <vector>

#include "search/pairwise.h"

namespace yuba {

struct Splitting {
  std::vector<int> variable;             // by copy; the first copy of each has its number
  std::vector<std::vector<int>> scopes;  // by factor: copies
  std::vector<int> order;                // all copies, in the order of their elimination
  int64_t sums = 0;                      // that elimination takes
};

// No step of the elimination takes more than `sums` sums, or as many as the largest factor has.
Splitting SplitToFit(const PairwiseProblem& problem, int64_t sums);

}  // namespace yuba

#endif  // YUBA_SEARCH_SPLIT_H_
