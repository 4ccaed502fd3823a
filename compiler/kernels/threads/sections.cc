// Thread plans of kernels with sections.
#include "compiler/kernels/threads/thread_plan.h"
#include "opsemantics/base/check.h"

namespace yuba::kernels {

std::vector<ThreadPlan> PlanSections(const NamedKernel& kernel, const std::vector<LoopPlan>& plans,
                                     const KernelTarget& target) {
  std::vector<ThreadPlan> all;
  for (size_t s = 0; s < kernel.sections.size(); ++s) {
    const program::Section& section = kernel.sections[s];
    const std::vector<LoopPlan> own(plans.begin() + section.begin, plans.begin() + section.end);
    const std::vector<ThreadPlan> stages = PlanThreads(SectionOf(kernel, s), own, target);
    const ThreadPlan& plan = stages[0];
    YUBA_CHECK(stages.size() == 1 && (all.empty() || plan.threads == all[0].threads))
        << kernel.symbol << ": section " << s << " has threads of its own";
    all.push_back(plan);
  }
  return all;
}

}  // namespace yuba::kernels
