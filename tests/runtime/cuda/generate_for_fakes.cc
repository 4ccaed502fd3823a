// In place of compiler/kernels/kernels.cc in the command yuba-on-fakes: a program for GPUs gets a
// shared object for processors where its PTX would be, as a text of hexadecimal digits behind "ELF
// ", which the fake driver runs. The loops are those of GPUs, of which each thread computes its
// share; only what LLVM makes of them differs (for_processors.h).
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "compiler/kernels/kernels.h"
#include "compiler/kernels/link.h"
#include "compiler/kernels/machine_code.h"
#include "compiler/kernels/to_llvm.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "opsemantics/base/status.h"
#include "tests/runtime/cuda/for_processors.h"

namespace yuba::kernels {

absl::StatusOr<std::string> GenerateKernels(const std::vector<NamedKernel>& kernels,
                                            const KernelTarget& target) {
  const bool gpu = target.facts->parallel;
  KernelTarget processor = target;
  processor.facts = &HostTarget();
  if (gpu) processor.cpu = HostTarget().processor;
  std::vector<std::string> objects;
  for (const NamedKernel& kernel : kernels) {
    llvm::LLVMContext context;
    YUBA_ASSIGN_OR_RETURN(std::unique_ptr<llvm::Module> module,
                          ToLlvm({&kernel, 1}, target, kernel.symbol, context));
    if (gpu) ForProcessors(*module);
    YUBA_ASSIGN_OR_RETURN(std::string object, ToMachineCode(*module, processor, kernel.symbol));
    objects.push_back(std::move(object));
  }
  YUBA_ASSIGN_OR_RETURN(const std::string object, LinkShared(objects));
  return gpu ? absl::StrCat("ELF ", absl::BytesToHexString(object)) : object;
}

}  // namespace yuba::kernels
