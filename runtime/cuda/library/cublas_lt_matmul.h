// One call of cuBLASLt: a matrix product, or a batch of them, described, its algorithm chosen.
//
// The algorithm is the first that the library's heuristics name for these types, strides and
// alignments within a fixed workspace, of those that add up partial sums in the accumulator's type
// and in one order: nothing is timed, so that the bits do not depend on chance.
#ifndef YUBA_RUNTIME_CUDA_LIBRARY_CUBLAS_LT_MATMUL_H_
#define YUBA_RUNTIME_CUDA_LIBRARY_CUBLAS_LT_MATMUL_H_

#include "absl/types/optional.h"
#include "opsemantics/base/element_type.h"
#include "runtime/contraction.h"
#include "runtime/cuda/library/cublas_lt_epilogue.h"
#include "runtime/cuda/library/cublas_lt_objects.h"

namespace yuba::cuda {

// A row-major matrix in the GPU's memory.
struct LtOperand {
  runtime::MatrixLayout layout;
  int64_t batch_step = 0;  // elements from one product of the batch to the next
  int64_t alignment = 1;   // of its pointers, bytes
};

// D (m x n) = act(alpha * A (m x k) B (k x n) + beta * C + bias).
struct LtShape {
  ElementType type = ElementType::kF32;         // of A and B
  ElementType result_type = ElementType::kF32;  // of D, C and bias; f32: of small floats too
  bool tf32 = false;                            // operands of f32 may be rounded to TF32
  int64_t m = 1, n = 1, k = 1;
  int64_t batch = 1;  // at most 2^31 - 1
  LtOperand a, b, d;
  double alpha = 1, beta = 0;          // of what is added: 0 for nothing, or for what D holds
  absl::optional<LtOperand> residual;  // C; none: D
  struct Bias {
    int64_t batch_step = 0;  // elements, as of LtOperand
    int64_t alignment = 1;
  };
  absl::optional<Bias> bias;  // n elements next to each other, added to each row
  LtEpilogue::Activation activation = LtEpilogue::kNone;
};

// Where the matrices of a product, or of the first one of a batch, lie in the GPU's memory.
struct LtPointers {
  const char* a = nullptr;
  const char* b = nullptr;
  char* d = nullptr;
  const char* residual = nullptr;  // of a shape that has one
  const char* bias = nullptr;
};

class CublasLtMatmul {
 public:
  explicit CublasLtMatmul(const CublasLt& library);

  // To be called once. Unimplemented where the library has no such product.
  absl::Status Prepare(cublasLtHandle_t handle, const LtShape& shape);
  int64_t workspace_bytes() const { return workspace_bytes_; }

  // Starts it on `stream`; adds to what D holds with `adds`, where the shape has no residual.
  absl::Status Run(const LtPointers& pointers, bool adds, char* workspace, cudaStream_t stream);

 private:
  absl::Status Describe(LtMatrix& matrix, ElementType type, int64_t rows, int64_t columns,
                        const LtOperand& operand, int64_t batch);
  absl::Status DescribeEpilogue(const LtShape& shape);
  absl::Status Choose(const LtShape& shape);

  const CublasLt& library_;
  cublasLtHandle_t handle_ = nullptr;
  bool doubles_ = false;
  double alpha_ = 1, beta_ = 0;
  bool has_residual_ = false, has_bias_ = false;
  LtProduct product_;
  // As the library has them, column-major: D transposed is B' A'. C is described where it is not D.
  LtMatrix b_, a_, c_, d_;
  cublasLtMatmulAlgo_t algorithm_ = {};
  int64_t workspace_bytes_ = 0;
};

}  // namespace yuba::cuda

#endif  // YUBA_RUNTIME_CUDA_LIBRARY_CUBLAS_LT_MATMUL_H_
