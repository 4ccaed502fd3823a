// The relaxation by classes of values: two classes cost the least that any two of their members
// cost. No assignment of values is then cheaper than the best assignment of classes. In a graph's
// problem values are choices and classes their grids.
#ifndef YUBA_SEARCH_SOLVE_RELAX_H_
#define YUBA_SEARCH_SOLVE_RELAX_H_

#include <memory>
#include <vector>

#include "search/solve/pairwise.h"

namespace yuba::search {

struct Classes {
  int count = 1;
  std::vector<int> of;  // by value: its class
};
using ClassesPtr = std::shared_ptr<const Classes>;

// `classes`: by variable; symmetries of the domains map values within their class. The result has a
// value for each class, no symmetries, and no rows of memory.
PairwiseProblem Relaxed(const PairwiseProblem& problem, const std::vector<ClassesPtr>& classes);

// The rows of the relaxation, with the same limit: a class uses as little as its most frugal
// member.
MemoryRows RelaxedRows(const PairwiseProblem& problem, const std::vector<ClassesPtr>& classes);

}  // namespace yuba::search

#endif  // YUBA_SEARCH_SOLVE_RELAX_H_
