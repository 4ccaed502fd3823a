// Plans within a limit on memory, or with replicas: which search when.
//
// The plan without a limit and without replicas comes first. Where replicas are not allowed and its
// program fits, it is the answer. Else all axes are searched at once (within_limit.h) where their
// tables can be made, else grids (grids_within_limit.h); both begin from that plan, the recursion
// and the baselines.
#ifndef YUBA_SEARCH_ENGINES_LIMITED_H_
#define YUBA_SEARCH_ENGINES_LIMITED_H_

#include "absl/status/statusor.h"
#include "search/search_options.h"
#include "search/solve/budget.h"
#include "search/space/restriction.h"

namespace yuba::search {

// The cheapest plan found for the options' `memory_limit` and `replicate`, with a bound where there
// is one. `graph` has its copies, accumulators and partials. Errors as of SearchWithinLimit
// (within_limit.h). InvalidArgument where pins (`restrictions`) need tables that are too large:
// where replicas are allowed, or the plan without a limit does not fit.
absl::StatusOr<Plan> SearchWithMemory(const Graph& graph, const SearchOptions& options,
                                      const Restrictions& restrictions, const Budget& budget);

// The same without pins and without `known_bytes`, for the sake of its bound. Its errors do not say
// how much memory would be enough.
absl::StatusOr<Plan> SearchForBound(const Graph& graph, const SearchOptions& options,
                                    const Budget& budget);

}  // namespace yuba::search

#endif  // YUBA_SEARCH_ENGINES_LIMITED_H_
