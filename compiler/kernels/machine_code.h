// LLVM IR to machine code.
#ifndef YUBA_COMPILER_KERNELS_MACHINE_CODE_H_
#define YUBA_COMPILER_KERNELS_MACHINE_CODE_H_

#include <string>

#include "absl/status/statusor.h"
#include "compiler/kernels/target.h"

namespace llvm {
class Module;
}

namespace yuba::kernels {

// Optimises `module` and gives the bytes of a relocatable object, or the text of PTX. With a dump
// folder, NAME.ll and NAME.s (or NAME.ptx) go there. Called from several threads, with one
// llvm::LLVMContext each.
absl::StatusOr<std::string> ToMachineCode(llvm::Module& module, const KernelTarget& target,
                                          const std::string& name);

}  // namespace yuba::kernels

#endif  // YUBA_COMPILER_KERNELS_MACHINE_CODE_H_
