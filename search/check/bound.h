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
#include "search/check/minimum.h"
#include "search/check/stop.h"
#include "search/check/tables.h"
#include "search/plan/plan.h"

namespace yuba::search {

// Kind "elimination". The fewest bytes that any plan of the plan's space moves, by bucket
// elimination in the order of the proof; with prices on memory a lower bound of any plan within the
// space's limit. An error where the order does not have every element once, or needs tables of more
// than 2^27 cells or more than 2^36 sums.
absl::StatusOr<int64_t> ReplayElimination(const Graph& graph, const Plan& plan, const Stop& stop);

// Kind "grids". Returns the plan's lower bound where it holds, else the least cost that was found
// below it. The whole problem relaxed to grids is eliminated in the order `sweep`, which gives for
// each grid the least of any plan that has it; choices whose grids no plan below the plan's lower
// bound has are left out. Where that elimination alone shows the bound, the rest is not looked at.
// Of the others the first `plain` elements of the order are eliminated as above. What remains is
// relaxed to grids again, and of the exact tables only cells that can be part of a plan below the
// bound are kept. Where none is left there is no such plan. An error where tables are too large.
absl::StatusOr<int64_t> ReplayGrids(const Graph& graph, const Plan& plan, const Stop& stop);

// Kind "dual". The bound that the messages show on the relaxation to grids; with prices on memory,
// of plans within the space's limit. An error where messages are malformed. Any well-formed
// messages show some true bound.
absl::StatusOr<int64_t> ReplayDual(const Graph& graph, const Plan& plan, const Stop& stop);

// An error unless the order has each tensor and each node once.
absl::Status CheckOrder(const Graph& graph, const std::vector<int>& order);

// A table for each use that may cost something, over node and tensor. Others would only make
// elements meet in tables, for nothing.
std::vector<CheckTable> TablesOf(const CostTables& costs);

// Eliminates the first `count` elements of the proof's order from `tables`; returns the tables that
// are left, over the other elements. An error where the order does not have every element once.
absl::StatusOr<Remaining> EliminatePlainly(const Graph& graph, const Plan& plan,
                                           const CostTables& costs, std::vector<CheckTable> tables,
                                           size_t count, const Stop& stop);

}  // namespace yuba::search

#endif  // YUBA_SEARCH_CHECK_BOUND_H_
