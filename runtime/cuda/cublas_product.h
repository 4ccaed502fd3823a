// A planned matrix product (contraction.h) through cuBLAS, in f32 as IEEE has it (no TF32).
// Operands without a unit stride are packed by a kernel of the runtime first. All work is started
// on one stream and not waited for.
#ifndef YUBA_RUNTIME_CUDA_CUBLAS_PRODUCT_H_
#define YUBA_RUNTIME_CUDA_CUBLAS_PRODUCT_H_

#include "runtime/contraction.h"
#include "runtime/cuda/gpu.h"

namespace yuba::cuda {

class CublasProduct {
 public:
  // `handle` works on `stream`, which is a stream of `gpu`. All are the caller's and outlive this.
  CublasProduct(const Gpu& gpu, const Cublas& cublas, cublasHandle_t handle, cudaStream_t stream,
                const runtime::LibraryShape& shape);

  int64_t workspace_bytes() const;

  // Starts the product. Pointers are into the GPU's memory: to the starts of the buffers, and to
  // workspace_bytes() that no other work of the stream uses meanwhile.
  absl::Status Run(const float* left, const float* right, float* result, float* workspace);

 private:
  absl::Status Step(const float* left, const float* right, float* result, float* workspace) const;
  absl::Status Multiply(const float* a, const float* b, float beta, float* c,
                        float* workspace) const;
  absl::Status Pack(const float* from, const runtime::MatrixLayout& layout, int64_t rows,
                    int64_t columns, float* to) const;

  const Gpu& gpu_;
  const Cublas& cublas_;
  const cublasHandle_t handle_;
  const cudaStream_t stream_;
  const runtime::LibraryShape shape_;
  runtime::ProductPlan plan_;
  runtime::StridedIndex
      batch_;  // the last of the loops, in one batched call, where nothing is packed
  int64_t a_size_ = 0, b_size_ = 0, c_size_ = 0;  // floats of packed operands
};

}  // namespace yuba::cuda

#endif  // YUBA_RUNTIME_CUDA_CUBLAS_PRODUCT_H_
