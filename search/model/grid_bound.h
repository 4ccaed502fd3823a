// A bound of all plans, with its proof: the dual of the relaxation to grids.
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
  std::vector<std::vector<Grid>> grids;  // by element: likely ones, the best first
};

// Where the budget is spent, as good a bound as there is by then: of those costs that are known; 0,
// without proof and with any grids, where none is. No better bound is looked for than one of about
// `enough`. `known` as for BuildGridProblem.
LowerBound DualBound(const Graph& graph, const Mesh& mesh, const std::vector<TensorUse>& uses,
                     const Budget& budget = Budget::Unlimited(),
                     double enough = std::numeric_limits<double>::infinity(),
                     TableCache* known = nullptr);

// The same of the plans within a limit on memory, and those with replicas among them: the rows of
// the problem are priced, unless they are too many. Where the budget is spent, a little more time
// makes a bound of the prices by then. `known`: the bytes of a plan within the limit, if there is
// one. The best comes first; another, if there is one, is at prices of the rows without buffers, or
// with them, and its grids may lead to other plans.
std::vector<LowerBound> PricedBounds(const Graph& graph, const GridProblem& problem,
                                     const Budget& budget, int64_t known = kForbidden);

}  // namespace yuba::search

#endif  // YUBA_SEARCH_MODEL_GRID_BOUND_H_
