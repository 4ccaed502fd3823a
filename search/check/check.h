// The checker: recomputes a plan's legality, cost and bound. It shares nothing with the solver but
// the boxes.
#ifndef YUBA_SEARCH_CHECK_CHECK_H_
#define YUBA_SEARCH_CHECK_CHECK_H_

#include <functional>

#include "absl/status/status.h"
#include "search/plan/plan.h"

namespace yuba::search {

// Whether the checker shall give up; asked now and then. Empty: never.
using Stop = std::function<bool()>;

// OK, or a FailedPrecondition that names the first tensor or node that is cut illegally, is not cut
// as far as it can be, or the figure that is not what the plan says (exit code 1 of `yuba check`).
// Cancelled where `stop` said so before the bound was replayed.
absl::Status CheckPlan(const Graph& graph, const Plan& plan, const Stop& stop = nullptr);

}  // namespace yuba::search

#endif  // YUBA_SEARCH_CHECK_CHECK_H_
