// The search on choices of all axes at once for plans within a limit on memory, and for plans whose
// tensors may be replicated.
//
// Memory is counted twice: by rows of the pairwise problem (search/model/memory_rows.h), which are
// a lower bound and which prices and bounds work on, and by the program of a plan, which decides.
// Where a program needs more than its rows say, the rows are made to keep to less and the search
// goes on: limit 60 kB, the program needs 61 kB, the next target is 59 kB.
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

class TableCache;

// Stands for no limit: more bytes than any plan needs.
inline constexpr int64_t kNoLimit = std::numeric_limits<int64_t>::max() / 4;

struct LimitedSearch {
  // All axes at once and no clusters, since a merged node would say nothing of its memory. Its
  // budget is that of the whole search.
  ProblemOptions problem;
  int64_t limit = 0;  // bytes a device; 0: no limit
  // Bytes a device that the program of these choices needs, which is more than the rows say. Empty:
  // the rows decide.
  std::function<int64_t(const Choices&)> memory_of;
  TableCache* table_cache = nullptr;  // of the costs of grids; not owned, may be null
  int64_t table_cells = 0;            // the largest table of an elimination; 0: none is tried
  // Bytes that a plan found elsewhere moves; 0: there is none. Where the bound is no less, the
  // search ends with NotFound.
  int64_t known_bytes = 0;
  bool explain = true;  // where nothing fits, look for how much would be enough; not on grids
  // Plans of other searches, by element. The search starts from them; the result costs no more than
  // those of them that fit.
  std::vector<Choices> known;
  // More of them. `others` is called where there is something to gain; `last` only on grids, where
  // nothing else fits. Both may be empty.
  std::function<std::vector<Choices>()> others, last;
  // The search on grids. It is called where the tables cannot be eliminated, or where there are
  // many variables and the best is far from the bound. Its bound holds for this graph; its error
  // counts as nothing found. May be empty.
  std::function<absl::StatusOr<Candidate>()> on_grids;
};

// The cheapest plan found within the limit, with its bound and a proof of kind "elimination" or
// "dual", with prices where there is a limit, or "none".
//
// FailedPrecondition where nothing within the limit was found: the message says how much is needed
// at least, at which node, and which tensors fill it. NotFound where the bound shows that nothing
// costs less than `known_bytes`. DeadlineExceeded or Cancelled where the budget is spent before
// anything within the limit is found.
absl::StatusOr<Candidate> SearchWithinLimit(const Graph& graph, const LimitedSearch& search);

// The peak of the problem's rows, in bytes a device, if every variable used its least at any time
// and nothing moved. No plan needs less.
int64_t LeastPeakOf(const PairwiseProblem& problem);

// The error of a search that found nothing within `limit` bytes a device. It names what the
// assignment `least`, of least usage, needs by the rows of `problem`. `elements`: by variable of
// `problem`, its element of the graph. `smallest`: the fewest bytes a device that any program found
// needs, or kNoLimit.
absl::Status TooLittle(const Graph& graph, const PairwiseProblem& problem,
                       const std::vector<int>& elements, const Assignment& least, int64_t limit,
                       int64_t smallest);

// The `smallest` of an error of TooLittle; the largest int64_t for other errors, and where no
// program was found.
int64_t SmallestPeak(const absl::Status& error);

// The error of a search whose budget was spent: DeadlineExceeded, or Cancelled where somebody asked
// for the end.
absl::Status StoppedWithin(const Budget& budget, int64_t limit);

}  // namespace yuba::search

#endif  // YUBA_SEARCH_ENGINES_WITHIN_LIMIT_H_
