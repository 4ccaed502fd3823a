// How large the tables by grids of a search would be.
#ifndef YUBA_SEARCH_MODEL_GRID_COUNTS_H_
#define YUBA_SEARCH_MODEL_GRID_COUNTS_H_

#include <vector>

#include "opsemantics/definition/graph.h"
#include "search/model/grid_problem.h"

namespace yuba::search {

// Whether the tables of all different uses have so many cells that hardly a machine holds them: on
// two kinds of links there are about as many grids as the product of those of each kind, and a
// table has a cell for each pair, or for each pair of classes of its terms
// (search/plan/link_terms.h). Counted without making anything.
bool HasTooManyGrids(const Graph& graph, const Mesh& mesh, const std::vector<TensorUse>& uses,
                     bool replicate);

}  // namespace yuba::search

#endif  // YUBA_SEARCH_MODEL_GRID_COUNTS_H_
