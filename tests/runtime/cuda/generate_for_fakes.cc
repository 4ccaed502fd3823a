// In place of compiler/kernels/kernels.cc in the command yuba-on-fakes: a program for GPUs gets a
// shared object for processors where its PTX would be, as a text of hexadecimal digits behind "ELF
// ", which the fake driver runs. All else of the program is as for GPUs: its functions, its library
// calls, its clusters.
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "compiler/kernels/kernels.h"
#include "compiler/kernels/link.h"
#include "compiler/kernels/machine_code.h"
#include "compiler/kernels/to_llvm.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "opsemantics/base/status.h"

namespace yuba::kernels {

absl::StatusOr<std::string> GenerateKernels(const std::vector<NamedKernel>& kernels,
                                            const KernelTarget& target) {
  KernelTarget processor = target;
  if (target.cuda) processor.cpu = "x86-64-v3";
  processor.cuda = false;
  std::vector<std::string> objects;
  for (const NamedKernel& kernel : kernels) {
    llvm::LLVMContext context;
    YUBA_ASSIGN_OR_RETURN(std::unique_ptr<llvm::Module> module,
                          ToLlvm({&kernel, 1}, processor, kernel.symbol, context));
    YUBA_ASSIGN_OR_RETURN(std::string object, ToMachineCode(*module, processor, kernel.symbol));
    objects.push_back(std::move(object));
  }
  YUBA_ASSIGN_OR_RETURN(const std::string object, LinkShared(objects));
  return target.cuda ? absl::StrCat("ELF ", absl::BytesToHexString(object)) : object;
}

}  // namespace yuba::kernels
