// A planned matrix product (contraction.h) through cuBLAS: of f32 as IEEE has it (no TF32), of bf16
// or f16 added up in f32, with a result of either. Operands without a unit stride are packed by a
// kernel of the runtime first.
#ifndef YUBA_RUNTIME_CUDA_LIBRARY_CUBLAS_PRODUCT_H_
#define YUBA_RUNTIME_CUDA_LIBRARY_CUBLAS_PRODUCT_H_

#include "runtime/contraction.h"
#include "runtime/cuda/library/library_kernel.h"

namespace yuba::cuda {

class CublasProduct : public LibraryKernel {
 public:
  // `handle` works on `stream`, which is a stream of `gpu`. All are the caller's and outlive this.
  CublasProduct(const Gpu& gpu, const Cublas& cublas, cublasHandle_t handle, cudaStream_t stream,
                const runtime::LibraryShape& shape);

  int64_t workspace_bytes() const override { return a_bytes_ + b_bytes_ + c_bytes_; }
  absl::Status Run(const char* left, const char* right, char* result, char* workspace) override;

 private:
  absl::Status Step(const char* left, const char* right, char* result, char* workspace) const;
  absl::Status Multiply(const char* a, const char* b, float beta, char* c, char* workspace) const;
  absl::Status Pack(const char* from, const runtime::MatrixLayout& layout, int64_t rows,
                    int64_t columns, char* to) const;

  const Gpu& gpu_;
  const Cublas& cublas_;
  const cublasHandle_t handle_;
  const cudaStream_t stream_;
  const runtime::LibraryShape shape_;
  runtime::ProductPlan plan_;
  ElementType sum_type_;  // of C as cuBLAS writes it
  runtime::StridedIndex
      batch_;  // the last of the loops, in one batched call, where nothing is packed
  int64_t a_bytes_ = 0, b_bytes_ = 0, c_bytes_ = 0;  // of operands in the workspace
};

// The product of a call of kind CONTRACTION.
absl::StatusOr<std::unique_ptr<LibraryKernel>> MakeCublasProduct(const LibrarySite& site,
                                                                 LibraryHandles& handles);

}  // namespace yuba::cuda

#endif  // YUBA_RUNTIME_CUDA_LIBRARY_CUBLAS_PRODUCT_H_
