// Definitions to LLVM IR, by way of MLIR.
#ifndef YUBA_COMPILER_KERNELS_TO_LLVM_H_
#define YUBA_COMPILER_KERNELS_TO_LLVM_H_

#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "compiler/kernels/kernels.h"

namespace llvm {
class LLVMContext;
class Module;
}  // namespace llvm

namespace yuba::kernels {

// One module with a function for each definition, not optimised. With a dump folder, the loops go
// to NAME.mlir there.
absl::StatusOr<std::unique_ptr<llvm::Module>> ToLlvm(absl::Span<const NamedDefinition> definitions,
                                                     const KernelTarget& target,
                                                     const std::string& name,
                                                     llvm::LLVMContext& context);

}  // namespace yuba::kernels

#endif  // YUBA_COMPILER_KERNELS_TO_LLVM_H_
