// One call of cuBLASLt: a matrix product, or a batch of them, described, its algorithm chosen.
//
// The algorithm is the first that the library's heuristics name for these types, strides and
// alignments within a fixed workspace, of those that add up partial sums in the accumulator's type
// and in one order: nothing is timed, so that the bits do not depend on chance. Or it is that of a
// tuning (runtime/cuda/tuning.h), in which it stands or is put, once timed.
#ifndef YUBA_RUNTIME_CUDA_LIBRARY_CUBLAS_LT_MATMUL_H_
#define YUBA_RUNTIME_CUDA_LIBRARY_CUBLAS_LT_MATMUL_H_

#include <vector>

#include "absl/types/optional.h"
#include "opsemantics/base/element_type.h"
#include "runtime/contraction.h"
#include "runtime/cuda/library/cublas_lt_epilogue.h"
#include "runtime/cuda/library/cublas_lt_objects.h"
#include "runtime/cuda/tuning.h"

namespace yuba::cuda {

class LtTuner;

// What an algorithm may take of workspace. More would give other bits.
constexpr int64_t kLtWorkspaceLimit = int64_t{32} << 20;

// A row-major matrix in the GPU's memory.
struct LtOperand {
  runtime::MatrixLayout layout;
  int64_t batch_step = 0;  // elements from one product of the batch to the next
  int64_t alignment = 1;   // of its pointers, bytes
};

// D (m x n) = act(alpha * A (m x k) B (k x n) + beta * C + bias), and what else the call reads or
// stores. Calls of equal CallText (cublas_lt_tuner.h) have the same algorithm in a tuning: a member
// that algorithms depend on is in that text too.
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
  // X, which lies like D: of kGeluTanh what it is of, which is stored where this is set; without an
  // activation D is multiplied with the slope of GELU there.
  absl::optional<LtOperand> aux;
  // The call also stores, next to each other in the type of D, the sums over k of A, m of them, or
  // of B, n. The batch is 1 then, and there is no bias and no activation.
  struct Sums {
    bool of_a = false;
    int64_t alignment = 1;
  };
  absl::optional<Sums> sums;

  int64_t SumsOfOperand() const { return sums->of_a ? m : n; }
};

// Where the matrices of a product, or of the first one of a batch, lie in the GPU's memory.
struct LtPointers {
  const char* a = nullptr;
  const char* b = nullptr;
  char* d = nullptr;
  const char* residual = nullptr;  // of a shape that has one
  const char* bias = nullptr;
  char* aux = nullptr;
  char* sums = nullptr;
};

// An algorithm as the library has it.
struct LtChoice {
  cublasLtMatmulAlgo_t algorithm = {};
  int64_t workspace_bytes = 0;
};

class CublasLtMatmul {
 public:
  explicit CublasLtMatmul(const CublasLt& library);

  // To be called once. Unimplemented where the library has no such product. With a tuner the
  // algorithm is that of its tuning; where this has none, algorithms are timed first, in memory of
  // the GPU that is free again afterwards. Without (null), or where the tuning's cannot be had, it
  // is the heuristics'.
  absl::Status Prepare(cublasLtHandle_t handle, const LtShape& shape, LtTuner* tuner);
  int64_t workspace_bytes() const { return chosen_.workspace_bytes; }

  // Starts it on `stream`; adds to what D holds with `adds`, where the shape has no residual.
  absl::Status Run(const LtPointers& pointers, bool adds, char* workspace, cudaStream_t stream);

 private:
  absl::Status Describe(LtMatrix& matrix, ElementType type, int64_t rows, int64_t columns,
                        const LtOperand& operand, int64_t batch);
  absl::Status DescribeEpilogue(const LtShape& shape);
  absl::Status DescribeAux(const LtShape& shape);
  absl::Status Choose(const LtShape& shape, LtTuner* tuner);
  // What the heuristics name, at most so many and one at least, the best first by their estimate.
  absl::StatusOr<std::vector<LtChoice>> Heuristics(const LtShape& shape, int most);

  // By a tuning (cublas_lt_tuned.cc).
  absl::StatusOr<absl::optional<LtChoice>> ChooseTuned(const LtShape& shape, LtTuner& tuner);
  absl::StatusOr<TunedEntry> Fastest(const LtShape& shape, LtTuner& tuner);
  absl::StatusOr<TunedAlgorithm> DescribeAlgorithm(const cublasLtMatmulAlgo_t& algorithm) const;
  absl::StatusOr<LtChoice> Restore(const TunedAlgorithm& algorithm) const;

  const CublasLt& library_;
  cublasLtHandle_t handle_ = nullptr;
  bool doubles_ = false;
  double alpha_ = 1, beta_ = 0;
  bool has_residual_ = false, has_bias_ = false, has_aux_ = false, has_sums_ = false;
  LtProduct product_;
  // As the library has them, column-major: D transposed is B' A'. C is described where it is not D.
  LtMatrix b_, a_, c_, d_;
  LtChoice chosen_;
};

}  // namespace yuba::cuda

#endif  // YUBA_RUNTIME_CUDA_LIBRARY_CUBLAS_LT_MATMUL_H_
