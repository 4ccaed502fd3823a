// Plans found on grids brought nearer to their bound, or to their proof: the relaxation to grids is
// eliminated exactly, which says of each grid what a plan with it moves at least. Grids that only
// dearer plans have are dropped, and with the choices of the others there is room for pruned
// elimination (raise_threshold.h).
#ifndef YUBA_SEARCH_ENGINES_PRUNE_H_
#define YUBA_SEARCH_ENGINES_PRUNE_H_

#include "search/model/recursion.h"
#include "search/search_options.h"

namespace yuba::search {

// `found`: a plan that moves `cost` bytes, a lower bound and its proof. No part of what is returned
// is worse; it is the same where tables of grids do not fit, or as soon as the budget is spent.
// Pins are not looked at.
Candidate SearchGridsBelow(const Graph& graph, const SearchOptions& options, const Budget& budget,
                           Candidate found, int64_t cost);

}  // namespace yuba::search

#endif  // YUBA_SEARCH_ENGINES_PRUNE_H_
