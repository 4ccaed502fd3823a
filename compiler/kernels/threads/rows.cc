// Which definitions of a cluster go through rows together, or down columns.
#include <algorithm>

#include "compiler/kernels/loop_plan.h"
#include "compiler/kernels/threads/limits.h"
#include "compiler/kernels/threads/thread_plan.h"
#include "opsemantics/regions/largest_operands.h"

namespace yuba::kernels {
namespace {

LoopPlan PlanOfThreads(const Definition& definition) {
  LoopOptions options;
  options.parallel_outputs = true;
  return PlanLoops(definition, options);
}

// Bytes of the narrowest elements that are read along the last output index, or written.
int64_t NarrowestBytes(const Definition& definition) {
  int64_t bytes = ByteSize(definition.result.type);
  const int index = definition.left.back().BareIndex();
  Walk(definition.body, [&](const Expr& expr) {
    if (expr.kind != Expr::kRead || expr.position.empty()) return;
    if (Coefficient(expr.position.back(), index) == 1)
      bytes = std::min<int64_t>(bytes, ByteSize(definition.operands[expr.operand].type));
  });
  return bytes;
}

}  // namespace

bool SumsDownColumns(const Definition& definition) {
  const LoopPlan plan = PlanOfThreads(definition);
  if (plan.mode != LoopPlan::kRegister || plan.steps.empty() || !plan.bounds.empty()) return false;
  if (!IsShared(definition.reducer) || IsArgReducer(definition.reducer)) return false;
  int64_t columns = 1, turns = 1;
  for (const Index& index : definition.indices) (index.reduction ? turns : columns) *= index.extent;
  const bool loops = std::all_of(plan.steps.begin(), plan.steps.end(),
                                 [](const LoopStep& step) { return step.kind == LoopStep::kLoop; });
  if (!loops || columns >= kEnoughThreads || turns < 2 * kAccessesEach) return false;
  for (size_t d = 0; d < definition.left.size(); ++d) {
    if (definition.left[d].BareIndex() != static_cast<int>(d)) return false;
  }
  return !plan.outer.empty() && plan.outer.size() == definition.left.size() &&
         std::is_sorted(plan.outer.begin(), plan.outer.end()) &&
         LargestLieAlong(definition, plan.outer.back()) &&
         !LargestLieAlong(definition, plan.steps.back().index);
}

bool SumInSameTurns(const Definition& a, const Definition& b) {
  const LoopPlan plan_a = PlanOfThreads(a), plan_b = PlanOfThreads(b);
  const auto same = [&](const LoopStep& x, const LoopStep& y) {
    return x.index == y.index && a.indices[x.index].extent == b.indices[y.index].extent;
  };
  return std::equal(plan_a.steps.begin(), plan_a.steps.end(), plan_b.steps.begin(),
                    plan_b.steps.end(), same) &&
         a.left == b.left && NarrowestBytes(a) == NarrowestBytes(b) &&
         AccumulatorType(a.result.type) == AccumulatorType(b.result.type);
}

bool SharesRows(const Definition& definition, int shared) {
  const LoopPlan plan = PlanOfThreads(definition);
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
