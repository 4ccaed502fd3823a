// Closing the gap of a plan that was found on grids, by dropping grids.
//
// The relaxation to grids is eliminated exactly, up and down, which gives for each grid of each
// element the least bytes of any plan that has it. With a plan of 725.9 MB in hand, a grid whose
// least is 730 MB is in no better plan and is dropped. The choices of what is left often have
// tables of a size to be made; they are then searched by pruned elimination
// (search/solve/raise_threshold.h). The proof is of kind "grids" (search/THEORY.md).
#ifndef YUBA_SEARCH_ENGINES_PRUNE_H_
#define YUBA_SEARCH_ENGINES_PRUNE_H_

#include "search/model/recursion.h"
#include "search/search_options.h"

namespace yuba::search {

// `found`: a plan that moves `cost` bytes a step, with a lower bound and its proof. Returns a plan
// that moves no more and a bound that is no lower. Both stay as they are where the gap is at most
// 0.1 %, where tables of grids do not fit, or where the budget is spent. Pins are not looked at.
Candidate SearchGridsBelow(const Graph& graph, const SearchOptions& options, const Budget& budget,
                           Candidate found, int64_t cost);

}  // namespace yuba::search

#endif  // YUBA_SEARCH_ENGINES_PRUNE_H_
