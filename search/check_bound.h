// The replay of proofs: part of the checker, and so without any code of the solver.
#ifndef YUBA_SEARCH_CHECK_BOUND_H_
#define YUBA_SEARCH_CHECK_BOUND_H_

#include <cstdint>

#include "absl/status/statusor.h"
#include "search/plan.h"

namespace yuba {

// The fewest bytes that any plan of the plan's space moves, by bucket elimination in the order of the
// plan's proof: numbers of tensors, then of nodes (tensors + node), each once. An error where the
// order is none, or needs tables of more than 2^27 cells.
absl::StatusOr<int64_t> ReplayElimination(const Graph& graph, const Plan& plan);

// The bound of a dual proof. An error where messages are malformed or do not add up to 0.
absl::StatusOr<int64_t> ReplayDual(const Graph& graph, const Plan& plan);

}  // namespace yuba

#endif  // YUBA_SEARCH_CHECK_BOUND_H_
