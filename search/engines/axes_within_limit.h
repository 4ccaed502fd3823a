// Labels within a limit on memory: local search in which what is in use has prices, and what
// exceeds a target a penalty.
#ifndef YUBA_SEARCH_ENGINES_AXES_WITHIN_LIMIT_H_
#define YUBA_SEARCH_ENGINES_AXES_WITHIN_LIMIT_H_

#include <cstdint>
#include <vector>

#include "search/axes/assign_axes.h"
#include "search/axes/axis_memory.h"
#include "search/model/grid_bound.h"
#include "search/plan/choice.h"

namespace yuba::search {

// Deterministic. All cuts are legal where those that it begins from are.
class AxesWithinLimit {
 public:
  // All must outlive this. `grids` has rows, `bound` is of them. Without `buffers` those of the
  // rows are not counted.
  AxesWithinLimit(const Graph& graph, const AxisOptions& options,
                  const std::vector<TensorUse>& uses, const GridProblem& grids, bool buffers,
                  const LowerBound& bound, bool replicate);

  // Near the bound's grids, at its prices: cuts whose rows keep to the target if such are found.
  Choices Find(int64_t target);
  // The same from choices. `near`: with as few changes as it takes.
  Choices Mend(const Choices& choices, int64_t target, bool near = false);
  int64_t Peak(const Choices& choices);  // of the rows

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
