// Two searches for assignments of a core within its rows: rounds of regions from a start, at
// prices; and, for small cores, one after another everything that could be cheaper.
#ifndef YUBA_SEARCH_ROWS_MEMORY_ROUNDS_H_
#define YUBA_SEARCH_ROWS_MEMORY_ROUNDS_H_

#include <cstdint>
#include <functional>
#include <vector>

#include "absl/types/optional.h"
#include "search/plan/memory_price.h"
#include "search/rows/memory_core.h"
#include "search/solve/budget.h"

namespace yuba::search {

// By row of the core: what a byte in use there costs, in bytes moved. A price belongs to the row at
// its time, or to the last row before it.
std::vector<double> RowPrices(const MemoryCore& core, const std::vector<MemoryPrice>& prices);

// The cost of an assignment of the core, its constant included; kForbidden where a cell is.
int64_t CostOf(const MemoryCore& core, const Assignment& assignment);

// The cheapest assignment within the core's rows that was met while regions (memory_search.h)
// changed `start`; nothing where none was. Ends where it costs no more than `bound`, after at most
// 600 rounds, or where the budget is spent.
absl::optional<Assignment> SearchWithin(const MemoryCore& core,
                                        const std::vector<MemoryPrice>& prices,
                                        const Assignment& start, int64_t bound,
                                        const Budget& budget);

// For a core of at most 64 variables (for larger ones nothing happens): tries, one after another,
// assignments that could cost less than `least`, at the prices (by row). Keeps in `best` the
// cheapest that is within the rows and that `accept` accepts; asks at most 1000 times.
void TryRest(const MemoryCore& core, const std::vector<double>& prices, int64_t least,
             Assignment& best, const std::function<bool(const Assignment&)>& accept);

}  // namespace yuba::search

#endif  // YUBA_SEARCH_ROWS_MEMORY_ROUNDS_H_
