// Kernel generation: definitions to loops (MLIR) to machine code. One kernel serves every box,
// every device and every device count: bounds, origins and extents are arguments
// (runtime/program/kernel_abi.h).
#ifndef YUBA_COMPILER_KERNELS_KERNELS_H_
#define YUBA_COMPILER_KERNELS_KERNELS_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "compiler/kernels/target.h"
#include "opsemantics/definition/definition.h"

namespace yuba::kernels {

struct NamedDefinition {
  std::string symbol;  // a C identifier, unique
  const Definition* definition = nullptr;
};

// Host: the bytes of one position-independent shared object with all symbols.
// CUDA: the text of one PTX module (ISA 8.0).
absl::StatusOr<std::string> GenerateKernels(const std::vector<NamedDefinition>& definitions,
                                            const KernelTarget& target);

}  // namespace yuba::kernels

#endif  // YUBA_COMPILER_KERNELS_KERNELS_H_
