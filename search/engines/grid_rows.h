// Grids of all elements together with what they keep in memory: rows that a limit holds for.
#ifndef YUBA_SEARCH_ENGINES_GRID_ROWS_H_
#define YUBA_SEARCH_ENGINES_GRID_ROWS_H_

#include <cstdint>
#include <vector>

#include "absl/types/optional.h"
#include "search/engines/within_limit.h"
#include "search/model/grid_problem.h"
#include "search/model/memory_rows.h"
#include "search/plan/choice.h"

namespace yuba::search {

// The problem, with rows for the search's limit; as BuildGridProblem where the budget is spent.
absl::optional<GridProblem> GridsWithRows(const Graph& graph, const LimitedSearch& search,
                                          const std::vector<TensorUse>& uses);

// By element the grid of least usage.
Assignment LeastUses(const GridProblem& grids);

// By element the grid of its choice.
Assignment GridsOf(const GridProblem& grids, const Choices& choices, const Mesh& mesh);

// The cheapest grids found that keep to the rows, from each of the starts at these prices; nothing
// where none was found. None is cheaper than `bound`.
absl::optional<Assignment> GridsInRows(const GridProblem& grids,
                                       const std::vector<MemoryPrice>& prices,
                                       const std::vector<Assignment>& starts, int64_t bound,
                                       const Budget& budget);

}  // namespace yuba::search

#endif  // YUBA_SEARCH_ENGINES_GRID_ROWS_H_
