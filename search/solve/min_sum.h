// The inner loops of elimination: the sum of several tables, minimised over one variable.
#ifndef YUBA_SEARCH_SOLVE_MIN_SUM_H_
#define YUBA_SEARCH_SOLVE_MIN_SUM_H_

#include <cstdint>
#include <vector>

#include "search/solve/budget.h"
#include "search/solve/pairwise.h"

namespace yuba::search {

// A table. `scope`: positions in the list of domains that MinSum is given; cells row-major in it.
struct MinSumTerm {
  std::vector<int> scope;
  const std::vector<int64_t>* cells;
};

// The result is row-major over domains[0 .. n-2]; each cell is the least sum of the terms over the
// values of the last domain. All terms have the last domain in their scope, and every other domain
// is in the scope of some term. Cells that symmetries of the domains map to one another are
// computed once. Runs on the budget's threads. No cells where the budget was spent before the end.
std::vector<int64_t> MinSum(const std::vector<DomainPtr>& domains,
                            const std::vector<MinSumTerm>& terms,
                            const Budget& budget = Budget::Unlimited());

}  // namespace yuba::search

#endif  // YUBA_SEARCH_SOLVE_MIN_SUM_H_
