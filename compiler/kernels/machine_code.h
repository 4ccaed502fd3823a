// LLVM IR to machine code: optimisation, the vector functions of glibc or the target's device
// library, then object code or, as PTX, assembly.
#ifndef YUBA_COMPILER_KERNELS_MACHINE_CODE_H_
#define YUBA_COMPILER_KERNELS_MACHINE_CODE_H_

#include <string>

#include "absl/status/statusor.h"
#include "compiler/kernels/targets.h"

namespace llvm {
class Module;
}

namespace yuba::kernels {

// Optimises `module` in place and returns the bytes of a relocatable object, or the text of its
// assembly (TargetFacts::links). With a dump folder, NAME.ll and NAME.s (or NAME.ptx) go there. May
// be called from several threads at a time, with one llvm::LLVMContext each. Errors: a processor
// that LLVM does not know, a device library that the module needs and that is missing, a dump that
// cannot be written.
absl::StatusOr<std::string> ToMachineCode(llvm::Module& module, const KernelTarget& target,
                                          const std::string& name);

}  // namespace yuba::kernels

#endif  // YUBA_COMPILER_KERNELS_MACHINE_CODE_H_
