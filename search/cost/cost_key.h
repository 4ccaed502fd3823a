// A key of all that decides what a use costs by grids, so that equal uses share one table.
#ifndef YUBA_SEARCH_COST_COST_KEY_H_
#define YUBA_SEARCH_COST_COST_KEY_H_

#include <cstdint>
#include <vector>

#include "opsemantics/definition/graph.h"
#include "opsemantics/sharding/sharding.h"
#include "search/plan/words.h"

namespace yuba::search {

// All that UseCosts::Relaxed (use_costs.h) depends on besides the grids: the objective, how often a
// cost counts, the classes of the axes, the type that moves, and what decides the boxes that are
// read or written. Uses of equal keys cost the same, whatever their definitions compute. `operand`
// < 0: the reduction of the result.
using CostKey = std::vector<int64_t>;
CostKey CostKeyOf(const Definition& definition, int operand, const Mesh& mesh, int64_t times,
                  ObjectiveKind objective = ObjectiveKind::kBytes);

}  // namespace yuba::search

#endif  // YUBA_SEARCH_COST_COST_KEY_H_
