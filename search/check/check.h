// The checker: recomputes whether a plan is legal, what it moves and what its proof shows, and
// compares with what the plan says. It runs no search and shares no code with the solvers. Common
// to both are: which elements a part reads and writes (opsemantics/regions), what a transfer is
// (opsemantics/base/transfers.h, through CostOf), when groups of partials agree
// (search/plan/choice_space.h), how large the numbers of a proof may be
// (search/plan/memory_price.h), and the rewritten graphs (search/rewrite).
#ifndef YUBA_SEARCH_CHECK_CHECK_H_
#define YUBA_SEARCH_CHECK_CHECK_H_

#include "absl/status/status.h"
#include "search/check/stop.h"
#include "search/plan/plan.h"

namespace yuba::search {

// `graph`: the one that the plan is of, with its copies, accumulators and partials. OK, or a
// FailedPrecondition (exit code 1 of `yuba check`) that names the first fault: a tensor or node
// that is cut illegally or not as far as it can be, a figure that is not what the plan says, or
// what is wrong with the proof. A proof that is too large to replay is an error too. Cancelled
// where `stop` said so before the bound was replayed.
absl::Status CheckPlan(const Graph& graph, const Plan& plan, const Stop& stop = nullptr);

// All of it but what is said of bounds: whether the plan is legal, has what its pins demand and
// moves what it says.
absl::Status CheckLegal(const Graph& graph, const Plan& plan);

// The last part of it alone: whether the plan's proof shows the plan's lower bound. Nothing but its
// mesh, space, bound and proof is looked at.
absl::Status CheckProof(const Graph& graph, const Plan& plan, const Stop& stop = nullptr);

}  // namespace yuba::search

#endif  // YUBA_SEARCH_CHECK_CHECK_H_
