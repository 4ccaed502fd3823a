// Kernel generation: definitions to loops (MLIR) to machine code. One kernel serves every box,
// every device and every device count: bounds, origins and extents are arguments
// (runtime/kernel_abi.h).
#ifndef YUBA_COMPILER_KERNELS_KERNELS_H_
#define YUBA_COMPILER_KERNELS_KERNELS_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "opsemantics/core.h"
#include "opsemantics/interpret.h"

namespace yuba {

struct KernelTarget {
  bool cuda = false;
  std::string cpu = "x86-64-v3";  // or "sm_80", "sm_90"
  Arithmetic arithmetic = Arithmetic::kFloat;
  std::string dump_dir;  // not empty: MLIR, LLVM IR and assembly of each kernel go there
  int threads = 1;
};

struct NamedDefinition {
  std::string symbol;  // a C identifier, unique
  const Definition* definition = nullptr;
};

// Host: the bytes of one position-independent shared object with all symbols.
// CUDA: the text of one PTX module (ISA 8.0).
absl::StatusOr<std::string> GenerateKernels(const std::vector<NamedDefinition>& definitions,
                                            const KernelTarget& target);

}  // namespace yuba

#endif  // YUBA_COMPILER_KERNELS_KERNELS_H_
