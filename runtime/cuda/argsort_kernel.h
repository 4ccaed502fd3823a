// The opaque function `argsort` on a GPU (row_sort.h): the launches of one kernel instruction.
#ifndef YUBA_RUNTIME_CUDA_ARGSORT_KERNEL_H_
#define YUBA_RUNTIME_CUDA_ARGSORT_KERNEL_H_

#include <memory>

#include "runtime/cuda/opaque_kernel.h"

namespace yuba::cuda {

// Its slices have something, and its rows are as short as WhyNotArgsortOnGpus asks for.
std::unique_ptr<OpaqueKernel> MakeArgsortKernel(const OpaqueSite& site, const Gpu& gpu);

}  // namespace yuba::cuda

#endif  // YUBA_RUNTIME_CUDA_ARGSORT_KERNEL_H_
