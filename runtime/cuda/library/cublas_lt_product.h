// A planned matrix product (contraction.h) through cuBLASLt: of f32 as IEEE has it, or rounded to
// TF32 where the call allows it; of bf16 or f16 added up in f32, with a result of either; of f64.
// Operands without a unit stride are packed by a kernel of the runtime first. What follows the
// product is the call's epilogue (cublas_lt_epilogue.h).
#ifndef YUBA_RUNTIME_CUDA_LIBRARY_CUBLAS_LT_PRODUCT_H_
#define YUBA_RUNTIME_CUDA_LIBRARY_CUBLAS_LT_PRODUCT_H_

#include "runtime/cuda/library/library_kernel.h"

namespace yuba::cuda {

// The product of a call of kind CONTRACTION. Unimplemented where its post-ops are no epilogue.
absl::StatusOr<std::unique_ptr<LibraryKernel>> MakeCublasLtProduct(const LibrarySite& site,
                                                                   LibraryHandles& handles);

}  // namespace yuba::cuda

#endif  // YUBA_RUNTIME_CUDA_LIBRARY_CUBLAS_LT_PRODUCT_H_
