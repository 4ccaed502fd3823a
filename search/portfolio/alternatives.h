// Several searches for one plan, one after the other: which result is the better, whether another
// search is worth it, and that a plan says it was cut short if any of them was, and what bound
// holds for the plans of all of them.
#ifndef YUBA_SEARCH_PORTFOLIO_ALTERNATIVES_H_
#define YUBA_SEARCH_PORTFOLIO_ALTERNATIVES_H_

#include "absl/status/statusor.h"
#include "search/search.h"
#include "search/solve/budget.h"

namespace yuba::search {

// The options with what the budget leaves of their time limit, at least a microsecond (0 would be
// no limit).
SearchOptions InTimeLeft(SearchOptions options, const Budget& budget);

// Whether the search of alternatives ends here: the plan moves nothing, was stopped or failed for
// another reason than memory, or there is no time left.
bool IsOver(const absl::StatusOr<PlannedGraph>& best, const Budget& budget);

// Puts `found` in the place of `best` where it moves less, or as little with a smaller gap; any
// plan is better than an error, and of two errors the one that names the smaller memory. Notes
// where `found` was cut short. Its asked_bound becomes the lower of the two; a search that ended
// with InvalidArgument does not count, as its space has none of the plans that were asked for.
void TakeBetter(absl::StatusOr<PlannedGraph> found, absl::StatusOr<PlannedGraph>& best);

// Notes that there was no time for an alternative: of its plans no bound is known.
void LeaveUnsearched(absl::StatusOr<PlannedGraph>& best);

// Marks the plan as cut short where the budget ended any search.
void MarkStopped(const Budget& budget, absl::StatusOr<PlannedGraph>& best);

}  // namespace yuba::search

#endif  // YUBA_SEARCH_PORTFOLIO_ALTERNATIVES_H_
