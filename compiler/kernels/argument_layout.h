// Where the arguments of a kernel stand in its tables (runtime/program/kernel_abi.h).
#ifndef YUBA_COMPILER_KERNELS_ARGUMENT_LAYOUT_H_
#define YUBA_COMPILER_KERNELS_ARGUMENT_LAYOUT_H_

#include <vector>

#include "compiler/kernels/named_kernel.h"

namespace yuba::kernels {

struct ArgumentLayout {
  explicit ArgumentLayout(const NamedKernel& kernel);

  int indices = 0, operands = 0;  // how many the kernel has
  std::vector<int> ranks;         // of the operands, then of the results

  int tensors() const { return static_cast<int>(ranks.size()); }
  // The place of an operand or result in the table `buffers`.
  int NumberOf(const KernelTensor& tensor) const;
  // The slot of the first (origin, extent) pair of its buffer in the table `arguments`.
  int BoxArgument(const KernelTensor& tensor) const;
};

}  // namespace yuba::kernels

#endif  // YUBA_COMPILER_KERNELS_ARGUMENT_LAYOUT_H_
