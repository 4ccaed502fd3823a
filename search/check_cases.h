// Bounds by cases, for the checker: each case is two, or has a bound of its own.
#ifndef YUBA_SEARCH_CHECK_CASES_H_
#define YUBA_SEARCH_CHECK_CASES_H_

#include <cstdint>
#include <functional>
#include <vector>

#include "absl/status/statusor.h"
#include "opsemantics/graph.h"
#include "search/check_minimum.h"
#include "search/memory_price.h"
#include "search/plan.h"

namespace yuba {

// What cases are split by: by tensor the elements of the largest shard, by cut; and by use (of each
// node's result, then of its operands) the bytes moved, [node cut][tensor cut].
struct CaseTables {
  std::vector<CheckTable::Cells> shards, costs;
};

// The bound of a case that is not split, under conditions: tables, in units, of different scopes,
// by which cuts that are of other cases cost kNever, or as much as can be counted.
using BoundOfCase = std::function<absl::StatusOr<int64_t>(
    const ProofCase& here, const std::vector<CheckTable>& conditions)>;

// Of all cases together: a few times what the search takes, which joins elements first.
inline constexpr int64_t kMostSumsInCases = 4 * kMostCaseSums;

// The least of all cases of the plan's proof, or of some if that is below what the plan says. An
// error where the list of cases is none, or has more than memory_price.h says; sums are limited by
// who takes them.
absl::StatusOr<int64_t> LeastOfCases(const Graph& graph, const Plan& plan, const CaseTables& tables,
                                     const BoundOfCase& bound_of);

// How many of its cases are not split: 1 where there are none.
int64_t UnsplitCases(const Proof& proof);

}  // namespace yuba

#endif  // YUBA_SEARCH_CHECK_CASES_H_
