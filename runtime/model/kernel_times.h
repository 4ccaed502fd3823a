// How long each device takes for a kernel. Few values differ between devices, since parts differ by
// at most one element, so each different one is computed once.
#ifndef YUBA_RUNTIME_MODEL_KERNEL_TIMES_H_
#define YUBA_RUNTIME_MODEL_KERNEL_TIMES_H_

#include <vector>

#include "opsemantics/machine/machine.h"
#include "runtime/model/policy.h"
#include "runtime/model/steps.h"
#include "runtime/program/program.h"

namespace yuba::runtime {

struct KernelTimes {
  std::vector<KernelTime> variants;  // at least one
  std::vector<int> variant;          // [device]
};

// Of a kernel of `program`, which says its work (SaysItsWork), by KernelSeconds. unmoved: [buffer]
// whose bytes do not count, as they stay on the chip (on_chip.h) or in a library's own form
// (runtime/host/kept_operands.h); empty: none.
KernelTimes KernelTimesOf(const LoadedProgram& program, const program::Kernel& kernel,
                          const std::vector<bool>& unmoved, const Machine& machine,
                          const RunPolicy& policy);

}  // namespace yuba::runtime

#endif  // YUBA_RUNTIME_MODEL_KERNEL_TIMES_H_
