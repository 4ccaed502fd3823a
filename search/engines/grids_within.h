// Plans within a limit on memory, or with replicas, where tables of choices are too large or cannot
// be eliminated: a bound on grids with prices on memory, and axes for the bound's grids that keep
// to the limit.
//
// It tries plan after plan (Incumbent::Try). What does not fit by a few bytes is mended with a
// target lower by those bytes.
#ifndef YUBA_SEARCH_ENGINES_GRIDS_WITHIN_H_
#define YUBA_SEARCH_ENGINES_GRIDS_WITHIN_H_

#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/optional.h"
#include "search/axes/assign_axes.h"
#include "search/engines/axes_within_limit.h"
#include "search/engines/incumbent.h"
#include "search/engines/task.h"
#include "search/model/grid_bound.h"
#include "search/model/grid_problem.h"

namespace yuba::search {

// What engines know of one task, which must outlive this. No axes are placed for grids of a graph
// with partials beyond accumulators: of these there is only a bound (use Task::whole).
class GridsWithin {
 public:
  explicit GridsWithin(Task& task);

  // Whether what every plan has in use fits. If not, one small plan is tried, which the error
  // names, and task.nothing_fits is set. Where the budget is spent before there are rows it is not
  // known.
  void CheckLeast(Incumbent& incumbent);
  // A bound on grids with prices on memory; no bound where the budget is spent before there is one,
  // or nothing fits.
  void Bound(Incumbent& incumbent);
  bool HasBound() const { return !bounds_.empty(); }

  // Whether there are rows and costs of all grids, and the graph has no groups of partials: else
  // the next two must not be called.
  bool CanPlaceAxes() const;
  // After Bound: axes for the bound's grids; where nothing that fits is near these, for grids that
  // keep to the rows together.
  void PlaceAxes(Incumbent& incumbent);
  // After PlaceAxes, where the best is far from the bound: assignments of grids that keep to the
  // rows, and prices of lower limits, which lead to other grids and plans.
  void SearchRows(Incumbent& incumbent);

  // Whether there are rows to tell why nothing fits, and that error (nothing_fits.h).
  bool HasRows() const { return grids_.has_value() && grids_->complete; }
  absl::Status WhyNothingFits(int64_t smallest) const;

 private:
  bool IsFar(double times, const Incumbent& incumbent, int64_t bound) const;
  int64_t Least(const Incumbent& incumbent) const;  // bytes of the best plan found or known
  LowerBound Frugal() const;
  void TryFrugal(Incumbent& incumbent);
  void SearchAxes(const GridProblem& grids, const LowerBound& bound, Incumbent& incumbent);
  void MendAll(const GridProblem& grids, const LowerBound& bound, AxesWithinLimit& axes,
               Incumbent& incumbent);
  void TryNear(AxesWithinLimit& axes, Incumbent& incumbent);
  void SearchRowsNear(const LowerBound& bound, Incumbent& incumbent);
  void SearchBelow(Incumbent& incumbent);

  AxesWithinLimit AxesFor(const GridProblem& grids, const LowerBound& bound, bool buffers) const;
  std::vector<std::vector<Grid>> OneEach(const Assignment& places) const;

  Task& task_;
  const int64_t limit_;  // bytes a device
  AxisOptions options_;
  absl::optional<GridProblem> grids_;  // with rows
  std::vector<LowerBound> bounds_;     // one or two, the best first; none before Bound
  int64_t least_peak_ = 0;             // of grids that use the least
  bool rows_searched_ = false;         // at the prices of the bound
};

}  // namespace yuba::search

#endif  // YUBA_SEARCH_ENGINES_GRIDS_WITHIN_H_
