#include "compiler/kernels/kernels.h"

#include <utility>

#include "compiler/kernels/link.h"
#include "compiler/kernels/llvm_failures.h"
#include "compiler/kernels/machine_code.h"
#include "compiler/kernels/to_llvm.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "opsemantics/base/check.h"
#include "opsemantics/base/status.h"

namespace yuba::kernels {
namespace {

absl::StatusOr<std::string> Generate(absl::Span<const NamedKernel> kernels,
                                     const KernelTarget& target, const std::string& name) {
  const LlvmFailures failures;
  llvm::LLVMContext context;
  YUBA_ASSIGN_OR_RETURN(std::unique_ptr<llvm::Module> module,
                        ToLlvm(kernels, target, name, context));
  return ToMachineCode(*module, target, name);
}

}  // namespace

absl::StatusOr<std::string> GenerateKernels(const std::vector<NamedKernel>& kernels,
                                            const KernelTarget& target) {
  if (!target.facts->links) return Generate(kernels, target, "kernels");
  std::vector<std::string> objects;
  for (const NamedKernel& kernel : kernels) {
    YUBA_ASSIGN_OR_RETURN(std::string object, Generate({&kernel, 1}, target, kernel.symbol));
    objects.push_back(std::move(object));
  }
  return LinkShared(objects);
}

}  // namespace yuba::kernels
