// Pairwise problems of graphs with a limit on memory: prices on the rows from the relaxation to
// classes, an exact elimination at these prices, and a search for what is within the limit.
#ifndef YUBA_SEARCH_MEMORY_PLAN_H_
#define YUBA_SEARCH_MEMORY_PLAN_H_

#include <cstdint>
#include <vector>

#include "absl/types/optional.h"
#include "search/dual.h"
#include "search/pairwise.h"

namespace yuba {

// What a byte in use at `time` costs, in units of 1/4096 byte moved.
struct MemoryPrice {
  int64_t time = 0;
  int64_t price = 0;
};
inline constexpr int64_t kPriceUnits = 4096;

// The problem without rows, in units: each cost, and each use at the prices of its times. No
// assignment within the limit costs less than the least of its sums, less the limit at all prices
// (Lagrange).
PairwiseProblem AtPrices(const PairwiseProblem& problem, const std::vector<MemoryPrice>& prices);

struct WithinLimit {
  Assignment assignment;
  int64_t cost = 0;
  int64_t peak = 0;
  int64_t bound = 0;       // no assignment within the problem's limit costs less
  std::vector<int> order;  // the elimination that proves the bound; empty: bound is 0
  std::vector<MemoryPrice> prices;
};

// `target`, at most the problem's limit, is what the assignment keeps to. Nothing where even the
// least usages exceed it, or where nothing was found. `classes` by variable, closed under the
// symmetries. Deterministic.
absl::optional<WithinLimit> SolveWithin(const PairwiseProblem& problem,
                                        const std::vector<ClassesPtr>& classes, int64_t target,
                                        int64_t table_cells);

// The cheapest assignment among those with the least usage of every variable.
Assignment LeastUsage(const PairwiseProblem& problem);

}  // namespace yuba

#endif  // YUBA_SEARCH_MEMORY_PLAN_H_
