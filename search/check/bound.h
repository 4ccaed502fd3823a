// The replay of proofs: part of the checker, and so without the code of any solver.
#ifndef YUBA_SEARCH_CHECK_BOUND_H_
#define YUBA_SEARCH_CHECK_BOUND_H_

#include <cstdint>

#include "absl/status/statusor.h"
#include "search/check/minimum.h"
#include "search/check/tables.h"
#include "search/plan/plan.h"

namespace yuba::search {

// The fewest bytes that any plan of the plan's space moves, by bucket elimination in the order of
// the plan's proof: numbers of tensors, then of nodes (tensors + node), each once. An error where
// the order is none, or needs tables of more than 2^27 cells. With prices on memory: the fewest
// bytes of any plan within the space's limit.
absl::StatusOr<int64_t> ReplayElimination(const Graph& graph, const Plan& plan);

// The plan's lower bound, if nothing is left of a pruned elimination in the order of the proof: as
// above for the first `plain` elements; of the others only what could be part of a cheaper plan is
// kept, by a relaxation to grids that is solved exactly. Else an error, as where tables are too
// large.
absl::StatusOr<int64_t> ReplayPruned(const Graph& graph, const Plan& plan);

// The same, where besides the relaxation to grids is first solved alone, in the order of the sweep:
// grids that only plans at or above the plan's lower bound have are left out.
absl::StatusOr<int64_t> ReplayGrids(const Graph& graph, const Plan& plan);

// The bound of a dual proof. An error where messages are malformed.
absl::StatusOr<int64_t> ReplayDual(const Graph& graph, const Plan& plan);

// The error that a proof has that fault.
absl::Status RefuseProof(const std::string& what);

// An error unless each tensor and each node is in it once.
absl::Status CheckOrder(const Graph& graph, const std::vector<int>& order);

// A table for each use that may cost something: others would only make elements meet.
std::vector<CheckTable> TablesOf(const CostTables& costs);

// The first `count` elements of the proof's order eliminated. An error where the order, as a whole,
// is none.
absl::StatusOr<Remaining> EliminatePlainly(const Graph& graph, const Plan& plan,
                                           const CostTables& costs, std::vector<CheckTable> tables,
                                           size_t count);

}  // namespace yuba::search

#endif  // YUBA_SEARCH_CHECK_BOUND_H_
