// Axes within a limit on memory: the local search of search/axes, in which bytes in use have the
// prices of a dual bound and bytes above a target a penalty.
//
// The target is bytes a device by the rows of memory. Programs need a little more than their rows
// say, so callers ask again with a lower target where the program of what was found does not fit.
#ifndef YUBA_SEARCH_ENGINES_AXES_WITHIN_LIMIT_H_
#define YUBA_SEARCH_ENGINES_AXES_WITHIN_LIMIT_H_

#include <cstdint>
#include <vector>

#include "search/axes/assign_axes.h"
#include "search/axes/axis_memory.h"
#include "search/model/grid_bound.h"
#include "search/plan/choice.h"

namespace yuba::search {

// Deterministic where the budget has no end. All choices that it returns are legal where those that
// it is given are. Not for several threads.
class AxesWithinLimit {
 public:
  // All arguments must outlive this. `grids` has rows. `bound` has the likely grids to begin from
  // and, in its proof, prices on the rows. Without `buffers` the rows do not count buffers of
  // transfers. `replicate`, `restrictions` as in MakeAxisProblem. Choices that
  // are given to this must meet the restrictions.
  AxesWithinLimit(const Graph& graph, const AxisOptions& options,
                  const std::vector<TensorUse>& uses, const GridProblem& grids, bool buffers,
                  const LowerBound& bound, bool replicate, const Restrictions& restrictions);

  // Choices near the bound's grids, at its prices, by element. Their rows keep to `target` bytes if
  // such choices were found; ask Peak.
  Choices Find(int64_t target);
  // The same, from given choices by element. `near`: without prices and kicks, so that little
  // changes.
  Choices Mend(const Choices& choices, int64_t target, bool near = false);
  int64_t Peak(const Choices& choices);  // the most bytes a device in use in any row

 private:
  void Load(const Choices& choices);
  void Tighten(int64_t target, bool near);

  const AxisOptions& options_;
  const std::vector<MemoryPrice>& prices_;
  ChoiceStore store_;
  AxisProblem problem_;
  AxisMemory memory_;
  AxisSearch search_;
  const GridProblem& grids_;
  double penalty_ = 0;
};

}  // namespace yuba::search

#endif  // YUBA_SEARCH_ENGINES_AXES_WITHIN_LIMIT_H_
