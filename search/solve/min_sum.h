// The kernel of elimination: a table of sums, minimised over one variable.
#ifndef YUBA_SEARCH_SOLVE_MIN_SUM_H_
#define YUBA_SEARCH_SOLVE_MIN_SUM_H_

#include <cstdint>
#include <vector>

#include "search/solve/budget.h"
#include "search/solve/pairwise.h"

namespace yuba::search {

// cells is row-major in `scope`, positions in the list of domains that MinSum is given.
struct MinSumTerm {
  std::vector<int> scope;
  const std::vector<int64_t>* cells;
};

// domains[0 .. n-2] are of the result, in its order; the last domain is minimised over. All terms
// have the last domain in their scope, each of the others is in some term's. Uses the symmetries
// that the domains have in common. No cells where the budget was spent before the end.
std::vector<int64_t> MinSum(const std::vector<DomainPtr>& domains,
                            const std::vector<MinSumTerm>& terms,
                            const Budget& budget = Budget::Unlimited());

}  // namespace yuba::search

#endif  // YUBA_SEARCH_SOLVE_MIN_SUM_H_
