// All labels at once: the best choice from a few cuts for each variable.
#ifndef YUBA_SEARCH_AXES_AXIS_POOL_H_
#define YUBA_SEARCH_AXES_AXIS_POOL_H_

#include <cstdint>
#include <vector>

#include "search/axes/axis_search.h"

namespace yuba::search {

// Of each variable's cut, this cut with two axes exchanged, what other solutions have (`found`:
// cuts by variable) and what its neighbours suggest: the best choice for all variables together,
// exact where its tables have at most so many cells. Exchanges alone can rename the axes of any
// part of the graph. False where nothing is better than what `search` has, or the budget is spent.
bool ChooseAmong(const AxisProblem& labels, const std::vector<std::vector<int>>& found,
                 int64_t table_cells, const Budget& budget, AxisSearch* search);

}  // namespace yuba::search

#endif  // YUBA_SEARCH_AXES_AXIS_POOL_H_
