// What prices make of an assignment: rounds of regions, and all that could cost less.
#ifndef YUBA_SEARCH_SOLVE_MEMORY_ROUNDS_H_
#define YUBA_SEARCH_SOLVE_MEMORY_ROUNDS_H_

#include <cstdint>
#include <functional>
#include <vector>

#include "absl/types/optional.h"
#include "search/plan/memory_price.h"
#include "search/solve/budget.h"
#include "search/solve/memory_core.h"

namespace yuba::search {

// By row of the core the price of a byte there, in bytes moved: the row at that time or the last
// one before.
std::vector<double> RowPrices(const MemoryCore& core, const std::vector<MemoryPrice>& prices);

int64_t CostOf(const MemoryCore& core, const Assignment& assignment);

// The best within the core's rows that regions, solved exactly one after another, make of the
// start; nothing where none is. Ends where it costs no more than `bound`.
absl::optional<Assignment> SearchWithin(const MemoryCore& core,
                                        const std::vector<MemoryPrice>& prices,
                                        const Assignment& start, int64_t bound,
                                        const Budget& budget);

// Of a small core: tries what could cost less than `least` at the prices, one after another, and
// keeps in `best` what is within its rows and accepted.
void TryRest(const MemoryCore& core, const std::vector<double>& prices, int64_t least,
             Assignment& best, const std::function<bool(const Assignment&)>& accept);

}  // namespace yuba::search

#endif  // YUBA_SEARCH_SOLVE_MEMORY_ROUNDS_H_
