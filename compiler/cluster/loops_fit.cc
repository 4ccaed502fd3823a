#include "compiler/cluster/loops_fit.h"

#include "compiler/kernels/loop_plan.h"

namespace yuba::compiler {

bool LoopsFit(const Definition& definition, int shared) {
  using kernels::LoopPlan;
  for (const Arithmetic arithmetic : {Arithmetic::kFloat, Arithmetic::kHash}) {
    kernels::LoopOptions options;
    options.arithmetic = arithmetic;
    const LoopPlan plan = kernels::PlanLoops(definition, options);
    if (plan.mode != LoopPlan::kMap && plan.mode != LoopPlan::kRegister) return false;
    if (static_cast<int>(plan.outer.size()) < shared) return false;
    for (int index = 0; index < shared; ++index) {
      if (plan.outer[index] != index) return false;
    }
  }
  return true;
}

}  // namespace yuba::compiler
