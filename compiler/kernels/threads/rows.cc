// Which definitions of a cluster go through rows together.
#include "compiler/kernels/threads/limits.h"
#include "compiler/kernels/threads/thread_plan.h"

namespace yuba::kernels {

bool SharesRows(const Definition& definition, int shared) {
  LoopOptions options;
  options.parallel_outputs = true;
  const LoopPlan plan = PlanLoops(definition, options);
  bool loops = false, others = false;
  for (const LoopStep& step : plan.steps) (step.kind == LoopStep::kLoop ? loops : others) = true;
  if (plan.mode == LoopPlan::kScatter) return false;
  if (static_cast<int>(plan.outer.size()) > shared) {  // elements, each a thread's
    int64_t turns = 1;
    for (const Index& index : definition.indices)
      if (index.reduction) turns *= index.extent;
    return turns <= kMostTurnsAlone;
  }
  if (!loops) return true;
  return !others && plan.bounds.empty() && IsShared(definition.reducer) &&
         !IsArgReducer(definition.reducer);
}

bool HasFewLongRows(const Definition& definition, int shared) {
  int64_t rows = 1, turns = 1;
  for (int index = 0; index < static_cast<int>(definition.indices.size()); ++index)
    (index < shared ? rows : turns) *= definition.indices[index].extent;
  return rows < kEnoughBlocks && rows * turns >= kLongSum;
}

}  // namespace yuba::kernels
