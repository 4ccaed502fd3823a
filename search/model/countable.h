// Costs so large that their sums would not fit 64 bits.
//
// A table has what every pair of choices costs, also pairs that nobody wants: a scores tensor of
// 275 GB gathered whole by 1,024 devices. Costs above MostOfUse count as that much, so that all
// uses of a graph together stay below kForbidden (solve/pairwise.h). That makes no cost larger, so
// a bound of these costs is one of the true costs; the cost of a plan is counted from its boxes
// (CostOf of plan/plan.h). Example: 60,000 uses: costs are exact up to 16 TB a use.
#ifndef YUBA_SEARCH_MODEL_COUNTABLE_H_
#define YUBA_SEARCH_MODEL_COUNTABLE_H_

#include <cstdint>
#include <vector>

#include "opsemantics/definition/graph.h"
#include "search/solve/pairwise.h"

namespace yuba::search {

// The most bytes that a use of the graph counts; what the checker counts at most
// (MostInProof of plan/price_scale.h) is no less.
int64_t MostOfUse(const Graph& graph);

// Cells above `most`, but for forbidden ones, become `most`.
void MakeCountable(int64_t most, std::vector<int64_t>& cells);
// The same for shared cells, which are only copied where some are above.
Cells Countable(int64_t most, Cells cells);

}  // namespace yuba::search

#endif  // YUBA_SEARCH_MODEL_COUNTABLE_H_
