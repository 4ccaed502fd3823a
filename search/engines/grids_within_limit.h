// Plans within a limit on memory, or with replicas, where the cost tables of all axes are too
// large: a bound on grids with prices on memory, and labels within it.
#ifndef YUBA_SEARCH_ENGINES_GRIDS_WITHIN_LIMIT_H_
#define YUBA_SEARCH_ENGINES_GRIDS_WITHIN_LIMIT_H_

#include "absl/status/statusor.h"
#include "search/engines/within_limit.h"

namespace yuba::search {

// As SearchWithinLimit, with the same errors. Of the graph no sums stay apart.
absl::StatusOr<Candidate> SearchGridsWithinLimit(const Graph& graph, const LimitedSearch& search);

// Gives what was found within the search's limit the bound that grids have, and its proof, instead
// of those it had; none where the budget is spent before there is one.
void BoundOnGrids(const Graph& graph, const LimitedSearch& search, Candidate& found);

}  // namespace yuba::search

#endif  // YUBA_SEARCH_ENGINES_GRIDS_WITHIN_LIMIT_H_
