// The solver of a pairwise problem: exact where the tables fit, else as good as can be had.
#ifndef YUBA_SEARCH_SOLVE_H_
#define YUBA_SEARCH_SOLVE_H_

#include <cstdint>
#include <vector>

#include "search/eliminate.h"

namespace yuba {

struct Outcome {
  Solution solution;
  bool exact = false;
  std::vector<int> order;  // where exact: the order of elimination
};

// `start` may be empty; where it is not, the solution is never costlier than it.
Outcome Solve(const PairwiseProblem& problem, int64_t table_cells, const Assignment& start);

}  // namespace yuba

#endif  // YUBA_SEARCH_SOLVE_H_
