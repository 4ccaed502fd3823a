// The axes of all variables at once: an exact elimination over a few choices of each variable.
//
// Local search changes one variable at a time. It cannot, for example, exchange axes a and b in
// half of a graph: every single step of that makes something worse. With [32/a, 64/b] and its
// exchange [32/b, 64/a] in every pool, the elimination finds it.
#ifndef YUBA_SEARCH_AXES_AXIS_POOL_H_
#define YUBA_SEARCH_AXES_AXIS_POOL_H_

#include <cstdint>
#include <vector>

#include "search/axes/axis_search.h"

namespace yuba::search {

// Chooses for all variables together from a pool of each: its choice in `search`, that choice with
// two axes of one class exchanged, its choices in other solutions (`found`: solutions, each by
// variable, numbers in the store), and choices that follow its neighbours. Exact where no table of
// the elimination has more than `table_cells` cells, else by local search over the pools. True
// where that is cheaper than what `search` had, which then has the new choices. Else false, as
// where the budget is spent, and `search` is as before.
bool ChooseAmong(const AxisProblem& axis_problem, const std::vector<std::vector<int>>& found,
                 int64_t table_cells, const Budget& budget, AxisSearch* search);

// Moves one mesh axis in all variables together, as the recursion places it: each variable chooses
// from its choice in `search` and from those in which the axis is elsewhere (WithMoved). Example: a
// recurrence whose steps all cut their rows over the axis b can cut their columns over it instead;
// every single step of that makes something worse. Exact, and true, where ChooseAmong is.
bool MoveAxis(const AxisProblem& axis_problem, uint8_t axis, int64_t table_cells,
              const Budget& budget, AxisSearch* search);

}  // namespace yuba::search

#endif  // YUBA_SEARCH_AXES_AXIS_POOL_H_
