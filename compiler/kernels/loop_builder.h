// Writes a loop plan down as an MLIR function: scf loops with explicit bounds, arith and math, and
// loads and stores through pointers. The same builder serves the host and the GPU.
#ifndef YUBA_COMPILER_KERNELS_LOOP_BUILDER_H_
#define YUBA_COMPILER_KERNELS_LOOP_BUILDER_H_

#include "compiler/kernels/kernels.h"
#include "compiler/kernels/loop_plan.h"
#include "mlir/IR/BuiltinOps.h"

namespace yuba::kernels {

// Adds to `module` an external function `named.symbol` with the calling convention of
// runtime/program/kernel_abi.h, and the internal function that it calls. `plan` must be of
// the definition, for this arithmetic and, on the GPU, for parallel outputs. On the GPU, thread t
// of n computes the output elements number t, t + n, t + 2 n, ...
void BuildKernel(mlir::ModuleOp module, const NamedDefinition& named, const LoopPlan& plan,
                 Arithmetic arithmetic, bool cuda);

}  // namespace yuba::kernels

#endif  // YUBA_COMPILER_KERNELS_LOOP_BUILDER_H_
