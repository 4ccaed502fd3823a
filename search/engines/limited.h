// Plans within a limit on memory, or with replicas.
#ifndef YUBA_SEARCH_ENGINES_LIMITED_H_
#define YUBA_SEARCH_ENGINES_LIMITED_H_

#include "absl/status/statusor.h"
#include "search/search_options.h"
#include "search/solve/budget.h"
#include "search/space/restriction.h"

namespace yuba::search {

// The cheapest plan found for the options' `memory_limit` and `replicate`, with a bound where there
// is one. Errors as of SearchWithinLimit (within_limit.h); InvalidArgument where there are
// restrictions, the tables of all axes are too large, and replicas are allowed or the plan without
// a limit does not fit.
absl::StatusOr<Plan> SearchWithMemory(const Graph& graph, const SearchOptions& options,
                                      const Restrictions& restrictions, const Budget& budget);

// A plan with the same bound, which is all that it is for: it may cost more.
absl::StatusOr<Plan> SearchForBound(const Graph& graph, const SearchOptions& options,
                                    const Budget& budget);

// Whether `found` moves less than `plan`, or is nearer to the limit where neither is a plan.
bool IsBetter(const absl::StatusOr<Plan>& found, const absl::StatusOr<Plan>& plan);

}  // namespace yuba::search

#endif  // YUBA_SEARCH_ENGINES_LIMITED_H_
