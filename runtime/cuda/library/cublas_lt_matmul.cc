#ifdef YUBA_WITH_CUDA
#include "runtime/cuda/library/cublas_lt_matmul.h"

#include <utility>

namespace yuba::cuda {
namespace {

// Partial sums are kept in the accumulator's type and added up in a step of their own.
constexpr uint32_t kReductions =
    CUBLASLT_REDUCTION_SCHEME_NONE | CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE;

cudaDataType CudaType(ElementType type) {
  return type == ElementType::kF64   ? CUDA_R_64F
         : type == ElementType::kF32 ? CUDA_R_32F
         : type == ElementType::kF16 ? CUDA_R_16F
                                     : CUDA_R_16BF;
}

cublasComputeType_t ComputeType(const LtShape& shape) {
  if (shape.type == ElementType::kF64) return CUBLAS_COMPUTE_64F;
  const bool rounded = shape.tf32 && shape.type == ElementType::kF32;
  return rounded ? CUBLAS_COMPUTE_32F_FAST_TF32 : CUBLAS_COMPUTE_32F;
}

uint32_t EpilogueNumber(const LtShape& shape) {
  const bool bias = shape.bias.has_value();
  const bool aux = shape.aux.has_value();
  // The library's A is this B, and the other way round.
  if (shape.sums.has_value())
    return shape.sums->of_a ? CUBLASLT_EPILOGUE_BGRADB : CUBLASLT_EPILOGUE_BGRADA;
  switch (shape.activation) {
    case LtEpilogue::kRelu: return bias ? CUBLASLT_EPILOGUE_RELU_BIAS : CUBLASLT_EPILOGUE_RELU;
    case LtEpilogue::kGeluTanh:
      if (aux) return bias ? CUBLASLT_EPILOGUE_GELU_AUX_BIAS : CUBLASLT_EPILOGUE_GELU_AUX;
      return bias ? CUBLASLT_EPILOGUE_GELU_BIAS : CUBLASLT_EPILOGUE_GELU;
    case LtEpilogue::kNone:
      if (aux) return CUBLASLT_EPILOGUE_DGELU;
      break;
  }
  return bias ? CUBLASLT_EPILOGUE_BIAS : CUBLASLT_EPILOGUE_DEFAULT;
}

int32_t Operation(const LtOperand& operand) {
  return operand.layout.transposed ? CUBLAS_OP_T : CUBLAS_OP_N;
}

}  // namespace

CublasLtMatmul::CublasLtMatmul(const CublasLt& library)
    : library_(library),
      product_(library.cublasLtMatmulDescDestroy, library.cublasLtMatmulDescSetAttribute),
      b_(library.cublasLtMatrixLayoutDestroy, library.cublasLtMatrixLayoutSetAttribute),
      a_(library.cublasLtMatrixLayoutDestroy, library.cublasLtMatrixLayoutSetAttribute),
      c_(library.cublasLtMatrixLayoutDestroy, library.cublasLtMatrixLayoutSetAttribute),
      d_(library.cublasLtMatrixLayoutDestroy, library.cublasLtMatrixLayoutSetAttribute) {}

absl::Status CublasLtMatmul::Prepare(cublasLtHandle_t handle, const LtShape& shape,
                                     LtTuner* tuner) {
  handle_ = handle;
  doubles_ = shape.type == ElementType::kF64;
  YUBA_CUDA(library_.cublasLtMatmulDescCreate(product_.slot(), ComputeType(shape),
                                              doubles_ ? CUDA_R_64F : CUDA_R_32F));
  YUBA_RETURN_IF_ERROR(product_.Set(CUBLASLT_MATMUL_DESC_TRANSA, Operation(shape.b)));
  YUBA_RETURN_IF_ERROR(product_.Set(CUBLASLT_MATMUL_DESC_TRANSB, Operation(shape.a)));
  YUBA_RETURN_IF_ERROR(Describe(b_, shape.type, shape.n, shape.k, shape.b, shape.batch));
  YUBA_RETURN_IF_ERROR(Describe(a_, shape.type, shape.k, shape.m, shape.a, shape.batch));
  YUBA_RETURN_IF_ERROR(Describe(d_, shape.result_type, shape.n, shape.m, shape.d, shape.batch));
  YUBA_RETURN_IF_ERROR(DescribeEpilogue(shape));
  return Choose(shape, tuner);
}

absl::Status CublasLtMatmul::DescribeEpilogue(const LtShape& shape) {
  alpha_ = shape.alpha;
  beta_ = shape.beta;
  has_residual_ = shape.residual.has_value();
  has_bias_ = shape.bias.has_value();
  has_aux_ = shape.aux.has_value();
  has_sums_ = shape.sums.has_value();
  if (has_residual_) {
    YUBA_RETURN_IF_ERROR(
        Describe(c_, shape.result_type, shape.n, shape.m, *shape.residual, shape.batch));
  }
  const uint32_t epilogue = EpilogueNumber(shape);
  if (epilogue != CUBLASLT_EPILOGUE_DEFAULT)
    YUBA_RETURN_IF_ERROR(product_.Set(CUBLASLT_MATMUL_DESC_EPILOGUE, epilogue));
  if (has_aux_) YUBA_RETURN_IF_ERROR(DescribeAux(shape));
  if (has_sums_)
    return product_.Set(CUBLASLT_MATMUL_DESC_BIAS_POINTER,
                        reinterpret_cast<const void*>(shape.sums->alignment));
  if (!has_bias_) return absl::OkStatus();
  if (shape.batch > 1)
    YUBA_RETURN_IF_ERROR(
        product_.Set(CUBLASLT_MATMUL_DESC_BIAS_BATCH_STRIDE, shape.bias->batch_step));
  // Heuristics see of the pointer how well it is aligned.
  return product_.Set(CUBLASLT_MATMUL_DESC_BIAS_POINTER,
                      reinterpret_cast<const void*>(shape.bias->alignment));
}

// It lies like D, which has no other rows than the library's columns.
absl::Status CublasLtMatmul::DescribeAux(const LtShape& shape) {
  constexpr int64_t kStep = 8;  // cublasLt.h
  const LtOperand& aux = *shape.aux;
  if (aux.layout.leading % kStep != 0 || (shape.batch > 1 && aux.batch_step % kStep != 0))
    return absl::UnimplementedError(
        "cuBLAS wants rows of GELU's argument that are multiples of 8 elements apart");
  YUBA_RETURN_IF_ERROR(product_.Set(CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_LD, aux.layout.leading));
  if (shape.batch > 1)
    YUBA_RETURN_IF_ERROR(
        product_.Set(CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_BATCH_STRIDE, aux.batch_step));
  return product_.Set(CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_POINTER,
                      reinterpret_cast<const void*>(aux.alignment));
}

// A matrix as the library sees it, rows x columns before the operation transposes it.
absl::Status CublasLtMatmul::Describe(LtMatrix& matrix, ElementType type, int64_t rows,
                                      int64_t columns, const LtOperand& operand, int64_t batch) {
  if (operand.layout.transposed) std::swap(rows, columns);
  YUBA_CUDA(library_.cublasLtMatrixLayoutCreate(matrix.slot(), CudaType(type), rows, columns,
                                                operand.layout.leading));
  YUBA_RETURN_IF_ERROR(matrix.Set(CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, static_cast<int32_t>(batch)));
  return matrix.Set(CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET, operand.batch_step);
}

absl::Status CublasLtMatmul::Choose(const LtShape& shape, LtTuner* tuner) {
  if (tuner != nullptr) {
    YUBA_ASSIGN_OR_RETURN(const absl::optional<LtChoice> tuned, ChooseTuned(shape, *tuner));
    if (tuned.has_value()) {
      chosen_ = *tuned;
      return absl::OkStatus();
    }
  }
  YUBA_ASSIGN_OR_RETURN(const std::vector<LtChoice> found, Heuristics(shape, 1));
  chosen_ = found[0];
  return absl::OkStatus();
}

absl::StatusOr<std::vector<LtChoice>> CublasLtMatmul::Heuristics(const LtShape& shape, int most) {
  LtPreference wanted(library_.cublasLtMatmulPreferenceDestroy,
                      library_.cublasLtMatmulPreferenceSetAttribute);
  YUBA_CUDA(library_.cublasLtMatmulPreferenceCreate(wanted.slot()));
  YUBA_RETURN_IF_ERROR(
      wanted.Set(CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, uint64_t{kLtWorkspaceLimit}));
  YUBA_RETURN_IF_ERROR(wanted.Set(CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK, kReductions));
  const std::pair<cublasLtMatmulPreferenceAttributes_t, int64_t> alignments[] = {
      {CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES, shape.b.alignment},
      {CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES, shape.a.alignment},
      {CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES, shape.residual.value_or(shape.d).alignment},
      {CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES, shape.d.alignment}};
  for (const auto& [attribute, bytes] : alignments)
    YUBA_RETURN_IF_ERROR(wanted.Set(attribute, static_cast<uint32_t>(bytes)));
  std::vector<cublasLtMatmulHeuristicResult_t> found(most);
  int count = 0;
  const LtMatrix& added = has_residual_ ? c_ : d_;
  YUBA_CUDA(library_.cublasLtMatmulAlgoGetHeuristic(handle_, product_.get(), b_.get(), a_.get(),
                                                    added.get(), d_.get(), wanted.get(), most,
                                                    found.data(), &count));
  if (count == 0) return absl::UnimplementedError("cuBLAS has no algorithm for a product");
  YUBA_CUDA(found[0].state);
  std::vector<LtChoice> choices;
  for (int i = 0; i < count; ++i) {
    if (found[i].state == CUBLAS_STATUS_SUCCESS)
      choices.push_back({found[i].algo, static_cast<int64_t>(found[i].workspaceSize)});
  }
  return choices;
}

absl::Status CublasLtMatmul::Run(const LtPointers& pointers, bool adds, char* workspace,
                                 cudaStream_t stream) {
  if (has_bias_) {
    YUBA_RETURN_IF_ERROR(
        product_.Set(CUBLASLT_MATMUL_DESC_BIAS_POINTER, static_cast<const void*>(pointers.bias)));
  }
  if (has_sums_) {
    YUBA_RETURN_IF_ERROR(
        product_.Set(CUBLASLT_MATMUL_DESC_BIAS_POINTER, static_cast<const void*>(pointers.sums)));
  }
  if (has_aux_) {
    YUBA_RETURN_IF_ERROR(product_.Set(CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_POINTER,
                                      static_cast<const void*>(pointers.aux)));
  }
  const double scale = alpha_, before = adds ? 1 : beta_;
  const auto scale_f32 = static_cast<float>(scale), before_f32 = static_cast<float>(before);
  const void* const alpha = doubles_ ? static_cast<const void*>(&scale) : &scale_f32;
  const void* const beta = doubles_ ? static_cast<const void*>(&before) : &before_f32;
  const LtMatrix& added = has_residual_ ? c_ : d_;
  YUBA_CUDA(library_.cublasLtMatmul(
      handle_, product_.get(), alpha, pointers.b, b_.get(), pointers.a, a_.get(), beta,
      has_residual_ ? pointers.residual : pointers.d, added.get(), pointers.d, d_.get(),
      &chosen_.algorithm, workspace, static_cast<size_t>(chosen_.workspace_bytes), stream));
  return absl::OkStatus();
}

}  // namespace yuba::cuda

#endif  // YUBA_WITH_CUDA
