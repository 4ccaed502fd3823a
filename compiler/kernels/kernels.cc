#include "compiler/kernels/kernels.h"

#include <algorithm>
#include <atomic>
#include <thread>

#include "compiler/kernels/link.h"
#include "compiler/kernels/machine_code.h"
#include "compiler/kernels/to_llvm.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "opsemantics/base/check.h"
#include "opsemantics/base/status.h"

namespace yuba::kernels {
namespace {

absl::StatusOr<std::string> Generate(absl::Span<const NamedDefinition> definitions,
                                     const KernelTarget& target, const std::string& name) {
  llvm::LLVMContext context;
  YUBA_ASSIGN_OR_RETURN(std::unique_ptr<llvm::Module> module,
                        ToLlvm(definitions, target, name, context));
  return ToMachineCode(*module, target, name);
}

}  // namespace

absl::StatusOr<std::string> GenerateKernels(const std::vector<NamedDefinition>& definitions,
                                            const KernelTarget& target) {
  if (target.cuda) return Generate(definitions, target, "kernels");
  std::vector<absl::StatusOr<std::string>> objects(definitions.size(), std::string());
  std::atomic<size_t> next{0};
  auto work = [&] {
    for (size_t i = next++; i < definitions.size(); i = next++)
      objects[i] = Generate({&definitions[i], 1}, target, definitions[i].symbol);
  };
  std::vector<std::thread> threads;
  for (int i = 1; i < target.threads; ++i) threads.emplace_back(work);
  work();
  for (std::thread& thread : threads) thread.join();
  std::vector<std::string> bytes;
  for (absl::StatusOr<std::string>& object : objects) {
    if (!object.ok()) return object.status();
    bytes.push_back(*std::move(object));
  }
  return LinkShared(bytes);
}

}  // namespace yuba::kernels
