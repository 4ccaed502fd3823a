// Kernels to LLVM IR, by way of MLIR (dialects scf, arith, math, llvm). Each definition is planned
// (loop_plan.h), each kernel built (loop_builder.h) and lowered; nothing is optimised yet.
#ifndef YUBA_COMPILER_KERNELS_TO_LLVM_H_
#define YUBA_COMPILER_KERNELS_TO_LLVM_H_

#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "compiler/kernels/named_kernel.h"
#include "compiler/kernels/targets.h"

namespace llvm {
class LLVMContext;
class Module;
}  // namespace llvm

namespace yuba::kernels {

// One module with a function for each kernel. It lives in `context`, which the caller keeps.
// With a dump folder, plans and loops go to NAME.mlir there.
absl::StatusOr<std::unique_ptr<llvm::Module>> ToLlvm(absl::Span<const NamedKernel> kernels,
                                                     const KernelTarget& target,
                                                     const std::string& name,
                                                     llvm::LLVMContext& context);

}  // namespace yuba::kernels

#endif  // YUBA_COMPILER_KERNELS_TO_LLVM_H_
