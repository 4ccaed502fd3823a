// The search for many devices: grids first, labels second. A relaxation that forgets the labels of
// mesh axes gives a bound, with its proof, and grids; then the grids get labels.
#ifndef YUBA_SEARCH_ENGINES_GRID_SEARCH_H_
#define YUBA_SEARCH_ENGINES_GRID_SEARCH_H_

#include <functional>

#include "search/model/graph_problem.h"
#include "search/model/grid_bound.h"
#include "search/plan/choice.h"
#include "search/search_options.h"

namespace yuba::search {

struct GridSolution {
  LowerBound bound;
  Choices choices;  // maximal; all axes of the mesh at once
};

// Pins are not looked at. Where the budget is spent, what can be had in a little overtime. `start`
// makes cuts of all elements to begin from besides; it is asked last, and may be empty.
GridSolution SearchOnGrids(const Graph& graph, const SearchOptions& options, const Budget& budget,
                           const std::function<Choices()>& start = nullptr);

}  // namespace yuba::search

#endif  // YUBA_SEARCH_ENGINES_GRID_SEARCH_H_
