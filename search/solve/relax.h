// The relaxation by classes of values: the cost of two classes is the least of any two members, so
// no assignment of values is cheaper than the best assignment of classes.
#ifndef YUBA_SEARCH_SOLVE_RELAX_H_
#define YUBA_SEARCH_SOLVE_RELAX_H_

#include <vector>

#include "search/solve/dual.h"
#include "search/solve/pairwise.h"

namespace yuba::search {

// The classes by variable are closed under the symmetries of the domains. The result has a value
// for each class, and no symmetries.
PairwiseProblem Relaxed(const PairwiseProblem& problem, const std::vector<ClassesPtr>& classes);

}  // namespace yuba::search

#endif  // YUBA_SEARCH_SOLVE_RELAX_H_
