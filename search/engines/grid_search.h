// The search for many devices: grids first, axes second.
//
// Tables of choices grow with the number of orders of the mesh axes, tables of grids do not: on
// 1,024 devices a matmul has 286 grids and 240 million partitions. The dual of the relaxation to
// grids gives a bound with its proof, and likely grids; search/axes then finds choices near them.
// The plan is legal and its price exact; only the bound knows nothing of axes.
#ifndef YUBA_SEARCH_ENGINES_GRID_SEARCH_H_
#define YUBA_SEARCH_ENGINES_GRID_SEARCH_H_

#include <functional>

#include "search/model/graph_problem.h"
#include "search/model/grid_bound.h"
#include "search/plan/choice.h"
#include "search/search_options.h"

namespace yuba::search {

struct GridSolution {
  LowerBound bound;  // of all plans that place all axes at once
  Choices choices;   // by element; no axis is left out that fits
};

// Pins are not looked at. Where the budget is spent, what can be found in a little overtime.
// `start` returns choices of all elements from another search (AxisOptions::start); it may be
// empty.
GridSolution SearchOnGrids(const Graph& graph, const SearchOptions& options, const Budget& budget,
                           const std::function<Choices()>& start = nullptr);

}  // namespace yuba::search

#endif  // YUBA_SEARCH_ENGINES_GRID_SEARCH_H_
