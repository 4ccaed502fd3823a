// One call of cuBLASLt: a matrix product, or a batch of them, described, its algorithm chosen.
//
// The algorithm is the first that the library's heuristics name for these types, strides and
// alignments within a fixed workspace, of those that add up partial sums in the accumulator's type
// and in one order: nothing is timed, so that the bits do not depend on chance.
#ifndef YUBA_RUNTIME_CUDA_LIBRARY_CUBLAS_LT_MATMUL_H_
#define YUBA_RUNTIME_CUDA_LIBRARY_CUBLAS_LT_MATMUL_H_

#include "opsemantics/base/element_type.h"
#include "runtime/contraction.h"
#include "runtime/cuda/library/cublas_lt_objects.h"

namespace yuba::cuda {

// A row-major matrix in the GPU's memory.
struct LtOperand {
  runtime::MatrixLayout layout;
  int64_t batch_step = 0;  // elements from one product of the batch to the next
  int64_t alignment = 1;   // of its pointers, bytes
};

// C (m x n) = A (m x k) B (k x n).
struct LtShape {
  ElementType type = ElementType::kF32;         // of A and B
  ElementType result_type = ElementType::kF32;  // of C; f32 is that of small floats too
  bool tf32 = false;                            // operands of f32 may be rounded to TF32
  int64_t m = 1, n = 1, k = 1;
  int64_t batch = 1;  // at most 2^31 - 1
  LtOperand a, b, c;
};

class CublasLtMatmul {
 public:
  explicit CublasLtMatmul(const CublasLt& library);

  // To be called once. Unimplemented where the library has no such product.
  absl::Status Prepare(cublasLtHandle_t handle, const LtShape& shape);
  int64_t workspace_bytes() const { return workspace_bytes_; }

  // Starts it on `stream`; adds to what C holds with `adds`.
  absl::Status Run(const char* a, const char* b, char* c, bool adds, char* workspace,
                   cudaStream_t stream) const;

 private:
  absl::Status Describe(LtMatrix& matrix, ElementType type, int64_t rows, int64_t columns,
                        const LtOperand& operand, int64_t batch);
  absl::Status Choose(const LtShape& shape);

  const CublasLt& library_;
  cublasLtHandle_t handle_ = nullptr;
  bool doubles_ = false;
  LtProduct product_;
  LtMatrix b_, a_, c_;  // as the library has them, column-major: C transposed is B' A'
  cublasLtMatmulAlgo_t algorithm_ = {};
  int64_t workspace_bytes_ = 0;
};

}  // namespace yuba::cuda

#endif  // YUBA_RUNTIME_CUDA_LIBRARY_CUBLAS_LT_MATMUL_H_
