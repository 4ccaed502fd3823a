// The search for plans whose tensors may be replicated, and that keep within a limit on memory.
#ifndef YUBA_SEARCH_ENGINES_WITHIN_LIMIT_H_
#define YUBA_SEARCH_ENGINES_WITHIN_LIMIT_H_

#include <cstdint>
#include <functional>
#include <limits>
#include <vector>

#include "absl/status/statusor.h"
#include "search/model/graph_problem.h"
#include "search/plan/choice.h"
#include "search/plan/plan.h"

namespace yuba::search {

// More bytes than any plan needs.
inline constexpr int64_t kNoLimit = std::numeric_limits<int64_t>::max() / 4;

struct LimitedSearch {
  // All axes at once, no clusters: a merged node says nothing of memory. Its budget is that of all.
  ProblemOptions problem;
  int64_t limit = 0;  // bytes a device that the bound is for; 0: no limit
  // What programs of these choices need, which is more than the rows of memory_rows.h say; may be
  // empty.
  std::function<int64_t(const Choices&)> memory_of;
  int64_t table_cells = 0;
  // Of a plan that is known, 0: there is none. Once the bound is no less, no more is looked for.
  int64_t known_bytes = 0;
  bool explain = true;  // where nothing is found, look for how much is needed; not on grids
  // Plans of other searches, from which this one starts: the result costs no more than those that
  // fit.
  std::vector<Choices> known;
  // The same of others, asked where there is something to gain, and more of them, asked on grids
  // where nothing else fits; may be empty.
  std::function<std::vector<Choices>()> others, last;
  // Another search, asked where the tables cannot be eliminated, or, of many variables, the bound
  // is far: its bound holds for this graph; an error counts as nothing found. May be empty.
  std::function<absl::StatusOr<Candidate>()> on_grids;
};

// FailedPrecondition where nothing within the limit was found; the message says how much is needed
// at least, at which node, and which tensors fill it. NotFound where the bound shows that nothing
// costs less than what is known. DeadlineExceeded or Cancelled where the budget is spent before
// anything within the limit is found.
absl::StatusOr<Candidate> SearchWithinLimit(const Graph& graph, const LimitedSearch& search);

// The error of a search that found nothing within `limit` bytes a device: what the values `least`,
// of least usage, need by the rows of `problem`, whose variables are these `elements` of the graph.
// `smallest`: the least that any program which was found needs, in bytes a device, or kNoLimit.
absl::Status TooLittle(const Graph& graph, const PairwiseProblem& problem,
                       const std::vector<int>& elements, const Assignment& least, int64_t limit,
                       int64_t smallest);

// That `smallest` of such an error; the largest number for others, and where no program was found.
int64_t SmallestPeak(const absl::Status& error);

// The error where the budget is spent: DeadlineExceeded, or Cancelled where somebody asked.
absl::Status StoppedWithin(const Budget& budget, int64_t limit);

}  // namespace yuba::search

#endif  // YUBA_SEARCH_ENGINES_WITHIN_LIMIT_H_
