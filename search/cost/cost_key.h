// What decides the costs of a use by grids.
#ifndef YUBA_SEARCH_COST_COST_KEY_H_
#define YUBA_SEARCH_COST_COST_KEY_H_

#include <cstdint>
#include <vector>

#include "opsemantics/definition/graph.h"
#include "opsemantics/sharding/sharding.h"

namespace yuba::search {

// All that UseCosts::Relaxed (use_costs.h) looks at besides the grids: the axes' sizes, what is
// moved, and what decides its boxes. Uses of equal keys cost the same, whatever their definitions
// compute. `operand` < 0: the reduction.
using CostKey = std::vector<int64_t>;
CostKey CostKeyOf(const Definition& definition, int operand, const Mesh& mesh);

}  // namespace yuba::search

#endif  // YUBA_SEARCH_COST_COST_KEY_H_
