// Kernel generation: definitions to loops (MLIR) to machine code. One kernel serves every box,
// every device and every device count: bounds, origins and extents are arguments
// (runtime/program/kernel_abi.h). The path of a kernel is loop_plan.h (which loops), then
// loop_builder.h (MLIR), to_llvm.h (LLVM IR), machine_code.h (object code or PTX), link.h (a shared
// object, host only).
//
// Example: y[i, j] = sum(k) x[i, k] * w[k, j] becomes one function, called with i = [0, 4) on
// device 0 and i = [4, 8) on device 1, and with the origins of the buffers that hold those rows.
#ifndef YUBA_COMPILER_KERNELS_KERNELS_H_
#define YUBA_COMPILER_KERNELS_KERNELS_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "compiler/kernels/named_kernel.h"
#include "compiler/kernels/targets.h"

namespace yuba::kernels {

// The code of a target: the bytes of one position-independent shared object with all symbols, or
// the text of its assembly, as one PTX module (TargetFacts::links). Errors: a processor that LLVM
// does not know, a device library that is needed and missing, a dump folder that cannot be written.
absl::StatusOr<std::string> GenerateKernels(const std::vector<NamedKernel>& kernels,
                                            const KernelTarget& target);

}  // namespace yuba::kernels

#endif  // YUBA_COMPILER_KERNELS_KERNELS_H_
