// The replay of proofs, one function for each kind. Each makes its own cost tables (tables.h,
// relaxed.h), follows the numbers of the proof and returns the bound, in bytes a step, that they
// really show; check.h compares it with the bound that the plan claims. search/THEORY.md says why
// each kind proves a bound.
//
// Elements are numbered: the tensors, then the nodes (tensors + node). All errors are
// FailedPrecondition and say what is wrong with the proof.
#ifndef YUBA_SEARCH_CHECK_BOUND_H_
#define YUBA_SEARCH_CHECK_BOUND_H_

#include <cstdint>

#include "absl/status/statusor.h"
#include "search/check/stop.h"
#include "search/plan/plan.h"

namespace yuba::search {

// Kind "elimination". The fewest bytes that any plan of the plan's space moves, by bucket
// elimination in the order of the proof; with prices on memory a lower bound of any plan within the
// space's limit. An error where the order does not have every element once, or needs tables of more
// than 2^27 cells or more than 2^36 sums.
absl::StatusOr<int64_t> ReplayElimination(const Graph& graph, const Plan& plan, const Stop& stop);

// Kind "dual". The bound that the messages show on the relaxation to grids; with prices on memory,
// of plans within the space's limit. An error where messages are malformed. Any well-formed
// messages show some true bound.
absl::StatusOr<int64_t> ReplayDual(const Graph& graph, const Plan& plan, const Stop& stop);

}  // namespace yuba::search

#endif  // YUBA_SEARCH_CHECK_BOUND_H_
