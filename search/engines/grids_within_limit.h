// Plans within a limit on memory, or with replicas, where tables of choices are too large: a bound
// on grids with prices on memory, and axes for the bound's grids that keep to the limit.
//
// It tries plan after plan: each is priced (bytes moved) and its program measured
// (LimitedSearch::memory_of). The cheapest that fits is the result. What does not fit by a few
// bytes is mended with a target lower by those bytes.
#ifndef YUBA_SEARCH_ENGINES_GRIDS_WITHIN_LIMIT_H_
#define YUBA_SEARCH_ENGINES_GRIDS_WITHIN_LIMIT_H_

#include "absl/status/statusor.h"
#include "search/engines/within_limit.h"

namespace yuba::search {

// As SearchWithinLimit, with the same errors. The graph has no partials beyond accumulators (use
// WithoutPartials, search/rewrite/partials.h). The proof is of kind "dual", with prices, or "none"
// where the budget was spent before there was a bound.
absl::StatusOr<Candidate> SearchGridsWithinLimit(const Graph& graph, const LimitedSearch& search);

// Replaces the bound and the proof of `found`, a plan within the search's limit, by those of grids:
// bound 0 and proof "none" where the budget is spent before there is one.
void BoundOnGrids(const Graph& graph, const LimitedSearch& search, Candidate& found);

}  // namespace yuba::search

#endif  // YUBA_SEARCH_ENGINES_GRIDS_WITHIN_LIMIT_H_
