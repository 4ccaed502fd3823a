// Plans within a limit on memory, and plans whose tensors may be replicated, on tables of all
// choices of all axes at once.
//
// Memory is counted twice: by rows of the pairwise problem (search/model/memory_rows.h), which are
// a lower bound and which prices and bounds work on, and by the program of a plan, which decides.
// Where a program needs more than its rows say, the rows are made to keep to less and the search
// goes on: limit 60 kB, the program needs 61 kB, the next target is 59 kB.
#ifndef YUBA_SEARCH_ENGINES_CHOICES_WITHIN_H_
#define YUBA_SEARCH_ENGINES_CHOICES_WITHIN_H_

#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/optional.h"
#include "search/engines/incumbent.h"
#include "search/engines/task.h"
#include "search/model/graph_problem.h"
#include "search/rows/prices.h"

namespace yuba::search {

// In percent of the bound: a plan so near ends the search; for one so far other ways are tried.
inline constexpr int64_t kNearWithin = 101, kFarWithin = 105;

// What engines know of one task, which must outlive this. Methods offer to the task's incumbent
// and end where the task's budget is spent.
class ChoicesWithin {
 public:
  // Makes the tables and the rows, without clusters, since a merged node would say nothing of its
  // memory.
  explicit ChoicesWithin(Task& task);

  // Finds prices on the rows and, by an elimination at these prices, a bound. The incumbent's
  // starts so far are starts of the searches below.
  void Price(Incumbent& incumbent);
  // Whether there are any: not where even the least uses exceed the limit, or there was no time.
  bool HasPrices() const { return solver_.has_value(); }
  // Whether an elimination at these prices gave a bound.
  bool HasBound() const { return solver_.has_value() && !solver_->order().empty(); }
  // Whether there are more variables than local search takes together.
  bool IsWide() const;

  // After Price: local search at the prices, for lower and lower targets.
  void Search(Incumbent& incumbent);
  // Where the budget is spent: brings the starts and the best within the limit.
  void Mend(Incumbent& incumbent, const Budget& overtime);
  // Where nothing fits: looks for the smallest program of a small problem, for the error to name.
  void SeekSmallest(Incumbent& incumbent);

  // The error of a search that found nothing within the limit.
  absl::Status WhyNothingFits(int64_t smallest) const;

 private:
  int64_t Try(const Assignment& assignment, Incumbent& incumbent);
  int64_t Known(const Incumbent& incumbent) const;
  void MendOne(const Assignment& start, const std::vector<MemoryPrice>& prices,
               Incumbent& incumbent, const Budget& overtime);

  const Graph& graph_;
  const SearchOptions& options_;
  const Budget& budget_;
  const int64_t limit_;  // bytes a device
  Problem problem_;
  int64_t least_ = 0;               // LeastPeakOf the rows
  std::vector<ClassesPtr> grids_;   // by variable
  std::vector<Assignment> starts_;  // those that Price met
  absl::optional<LimitSolver> solver_;
};

}  // namespace yuba::search

#endif  // YUBA_SEARCH_ENGINES_CHOICES_WITHIN_H_
