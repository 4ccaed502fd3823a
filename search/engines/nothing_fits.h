// The errors of searches that find no plan: nothing fits a limit on memory, or is of use.
#ifndef YUBA_SEARCH_ENGINES_NOTHING_FITS_H_
#define YUBA_SEARCH_ENGINES_NOTHING_FITS_H_

#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "opsemantics/definition/graph.h"
#include "search/solve/budget.h"
#include "search/solve/pairwise.h"

namespace yuba::search {

// The peak of the problem's rows, in bytes a device, if every variable used its least at any time
// and nothing moved. No plan needs less.
int64_t LeastPeakOf(const PairwiseProblem& problem);

// FailedPrecondition: nothing within `limit` bytes a device was found. It names what the
// assignment `least`, of least usage, needs by the rows of `problem`, at which node, and which
// tensors fill it. `elements`: by variable of `problem`, its element of the graph. `smallest`: the
// fewest bytes a device that any program tried needs, or kNoLimit.
absl::Status TooLittle(const Graph& graph, const PairwiseProblem& problem,
                       const std::vector<int>& elements, const Assignment& least, int64_t limit,
                       int64_t smallest);

// The `smallest` of an error of TooLittle; the largest int64_t for other errors, and where no
// program was tried.
int64_t SmallestPeak(const absl::Status& error);

// The error of a search whose lower bound was `bytes` when it ended: no plan of its space moves
// fewer. BoundOf gives it back, 0 of other errors.
absl::Status WithBound(absl::Status error, int64_t bytes);
int64_t BoundOf(const absl::Status& error);

// The error of a search whose budget was spent: DeadlineExceeded, or Cancelled where somebody asked
// for the end.
absl::Status StoppedWithin(const Budget& budget, int64_t limit);

}  // namespace yuba::search

#endif  // YUBA_SEARCH_ENGINES_NOTHING_FITS_H_
