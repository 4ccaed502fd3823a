// Writes loop plans down as an MLIR function: scf loops with explicit bounds, arith and math, and
// loads and stores through pointers. The same builder serves the host and the GPU.
#ifndef YUBA_COMPILER_KERNELS_LOOP_BUILDER_H_
#define YUBA_COMPILER_KERNELS_LOOP_BUILDER_H_

#include <vector>

#include "compiler/kernels/loop_plan.h"
#include "compiler/kernels/named_kernel.h"
#include "compiler/kernels/threads/thread_plan.h"
#include "mlir/IR/BuiltinOps.h"

namespace yuba::kernels {

// Of a kernel without sections. Adds to `module` an external function `kernel.symbol` with the
// calling convention of runtime/program/kernel_abi.h, and the internal function that it calls.
// `plans` must be of the definitions, in their order, for this target (LoopOptions), and `threads`
// one of the kernel's plans for GPUs; null for processors.
//
// Where there are several definitions, the loops of each plan over the shared indices must be its
// outermost ones, and the others a map or accumulators in registers.
void BuildKernel(mlir::ModuleOp module, NamedKernel kernel, const std::vector<LoopPlan>& plans,
                 const KernelTarget& target, const ThreadPlan* threads);

// The same of a kernel with sections. `threads` has a plan for each section (PlanSections); it is
// empty for processors, which compute one section after the other.
void BuildSections(mlir::ModuleOp module, const NamedKernel& kernel,
                   const std::vector<LoopPlan>& plans, const KernelTarget& target,
                   const std::vector<ThreadPlan>& threads);

}  // namespace yuba::kernels

#endif  // YUBA_COMPILER_KERNELS_LOOP_BUILDER_H_
