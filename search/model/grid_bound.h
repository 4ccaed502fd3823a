// A lower bound of all plans, with its proof: the dual of the relaxation to grids.
//
// The costs of grids come in (grid_problem.h); out come the bytes that no plan goes below, the
// messages that prove it (Proof of search/plan/plan.h, kind "dual"), and for each element some
// grids that cheap plans are likely to have, from which searches start.
#ifndef YUBA_SEARCH_MODEL_GRID_BOUND_H_
#define YUBA_SEARCH_MODEL_GRID_BOUND_H_

#include <cstdint>
#include <limits>
#include <vector>

#include "search/model/grid_problem.h"
#include "search/plan/plan.h"

namespace yuba::search {

struct LowerBound {
  int64_t bytes = 0;  // no plan that places all axes at once moves less
  Proof proof;
  std::vector<std::vector<Grid>> grids;  // [element]: likely grids, the best first
  // [element]: more of them, as values of its variable in a GridProblem; empty where the rows of a
  // limit on memory are priced.
  std::vector<std::vector<int>> values;
  bool tiled = false;  // whether those of a few repeated blocks stand for all (shorten.h)
};

// Where the budget is spent, the best bound by then: of those costs that are known, in a little
// overtime. Where none is known, bytes is 0, the proof is none and the grids are arbitrary. The
// search ends once the bound is about `bytes_to_stop_at`. `table_cache`, `restrictions`: as in
// BuildGridProblem; under restrictions the bound is of the plans that meet them, and messages are
// of the grids that may.
LowerBound DualBound(const Graph& graph, const Mesh& mesh, const std::vector<TensorUse>& uses,
                     const Budget& budget = Budget::Unlimited(),
                     double bytes_to_stop_at = std::numeric_limits<double>::infinity(),
                     TableCache* table_cache = nullptr, const Restrictions& restrictions = {});

// Bounds of the plans within the problem's limit on memory, plans with replicas among them. The
// rows of the problem are priced, unless its tables are too large. Where the budget is spent, a
// little overtime makes a bound of the prices by then. `bytes_to_beat`: what a plan within the
// limit moves, if one is known.
//
// `uses`: those that the problem was built of. One or two bounds, never none, the best first. They
// are of prices found with and without buffers in the rows; the grids of the second may lead to
// other plans.
std::vector<LowerBound> PricedBounds(const Graph& graph, const std::vector<TensorUse>& uses,
                                     const GridProblem& problem, const Budget& budget,
                                     int64_t bytes_to_beat = kForbidden);

}  // namespace yuba::search

#endif  // YUBA_SEARCH_MODEL_GRID_BOUND_H_
