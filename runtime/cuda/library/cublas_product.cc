#ifdef YUBA_WITH_CUDA
#include "runtime/cuda/library/cublas_product.h"

namespace yuba::cuda {
namespace {

constexpr int64_t kAlignment = 256;  // bytes

int64_t Aligned(int64_t bytes) { return (bytes + kAlignment - 1) / kAlignment * kAlignment; }

cublasOperation_t Operation(const runtime::MatrixLayout& layout) {
  return layout.transposed ? CUBLAS_OP_T : CUBLAS_OP_N;
}

cudaDataType CudaType(ElementType type) {
  return type == ElementType::kF32   ? CUDA_R_32F
         : type == ElementType::kF16 ? CUDA_R_16F
                                     : CUDA_R_16BF;
}

// Of an element that is copied as it is.
JobType RawType(ElementType type) { return ByteSize(type) == 2 ? JobType::kRaw16 : JobType::kF32; }

}  // namespace

CublasProduct::CublasProduct(const Gpu& gpu, const Cublas& cublas, cublasHandle_t handle,
                             cudaStream_t stream, const runtime::LibraryShape& shape)
    : gpu_(gpu),
      cublas_(cublas),
      handle_(handle),
      stream_(stream),
      shape_(shape),
      plan_(runtime::PlanProduct(shape)) {
  // What several calls add up stays f32 until the last has.
  sum_type_ = plan_.sums.empty() ? shape.result_type : ElementType::kF32;
  if (plan_.a.packed) a_bytes_ = Aligned(plan_.m * plan_.k * ByteSize(shape.type));
  if (plan_.b.packed) b_bytes_ = Aligned(plan_.k * plan_.n * ByteSize(shape.type));
  if (plan_.c.packed || sum_type_ != shape.result_type)
    c_bytes_ = Aligned(plan_.m * plan_.n * ByteSize(sum_type_));
  if (workspace_bytes() == 0 && !plan_.loops.empty()) {
    batch_ = plan_.loops.back();
    plan_.loops.pop_back();
  }
}

absl::Status CublasProduct::Run(const char* left, const char* right, char* result,
                                char* workspace) {
  const int64_t operand = ByteSize(shape_.type), written = ByteSize(shape_.result_type);
  absl::Status status;
  runtime::ForEachStep(plan_.loops, 0, shape_.left, shape_.right, shape_.output,
                       [&](int64_t left_at, int64_t right_at, int64_t result_at) {
                         if (status.ok()) {
                           status = Step(left + left_at * operand, right + right_at * operand,
                                         result + result_at * written, workspace);
                         }
                       });
  return status;
}

absl::Status CublasProduct::Step(const char* left, const char* right, char* result,
                                 char* workspace) const {
  const int64_t operand = ByteSize(shape_.type);
  char* const c = c_bytes_ > 0 ? workspace + a_bytes_ + b_bytes_ : result;
  absl::Status status;
  float beta = 0;
  runtime::ForEachStep(plan_.sums, 0, 0, 0, 0, [&](int64_t left_at, int64_t right_at, int64_t) {
    if (!status.ok()) return;
    const char* from_left = left + left_at * operand;
    const char* from_right = right + right_at * operand;
    status = Multiply(plan_.swapped ? from_right : from_left,
                      plan_.swapped ? from_left : from_right, beta, c, workspace);
    beta = 1;
  });
  if (!status.ok() || c_bytes_ == 0) return status;
  MatrixCopy copy = {};
  copy.from = c;
  copy.from_row = plan_.n;
  copy.from_column = 1;
  copy.to = result;
  copy.to_row = plan_.c.row_step;
  copy.to_column = plan_.c.column_step;
  copy.rows = plan_.m;
  copy.columns = plan_.n;
  const bool as_it_is = sum_type_ == shape_.result_type;
  copy.from_type = RawType(sum_type_);
  copy.to_type = as_it_is                                   ? copy.from_type
                 : shape_.result_type == ElementType::kBF16 ? JobType::kBF16
                                                            : JobType::kF16;
  return gpu_.LaunchMatrixCopy(copy, stream_);
}

absl::Status CublasProduct::Pack(const char* from, const runtime::MatrixLayout& layout,
                                 int64_t rows, int64_t columns, char* to) const {
  const JobType type = RawType(shape_.type);
  return gpu_.LaunchMatrixCopy(
      {from, layout.row_step, layout.column_step, to, columns, 1, rows, columns, type, type},
      stream_);
}

// cuBLAS is column-major: it sees each matrix transposed and makes the transpose of C, B' A'.
absl::Status CublasProduct::Multiply(const char* a, const char* b, float beta, char* c,
                                     char* workspace) const {
  if (plan_.a.packed) {
    YUBA_RETURN_IF_ERROR(Pack(a, plan_.a, plan_.m, plan_.k, workspace));
    a = workspace;
  }
  if (plan_.b.packed) {
    YUBA_RETURN_IF_ERROR(Pack(b, plan_.b, plan_.k, plan_.n, workspace + a_bytes_));
    b = workspace + a_bytes_;
  }
  const float alpha = 1;
  const int64_t a_step = plan_.swapped ? batch_.right : batch_.left;
  const int64_t b_step = plan_.swapped ? batch_.left : batch_.right;
  const int64_t c_leading = c_bytes_ > 0 ? plan_.n : plan_.c.leading;
  const cudaDataType type = CudaType(shape_.type);
  YUBA_CUDA(cublas_.cublasGemmStridedBatchedEx_64(
      handle_, Operation(plan_.b), Operation(plan_.a), plan_.n, plan_.m, plan_.k, &alpha, b, type,
      plan_.b.leading, b_step, a, type, plan_.a.leading, a_step, &beta, c, CudaType(sum_type_),
      c_leading, batch_.result, batch_.extent, CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT));
  return absl::OkStatus();
}

absl::StatusOr<std::unique_ptr<LibraryKernel>> MakeCublasProduct(const LibrarySite& site,
                                                                 LibraryHandles& handles) {
  YUBA_ASSIGN_OR_RETURN(const Cublas* cublas, Cublas::Open());
  YUBA_ASSIGN_OR_RETURN(const cublasHandle_t handle, handles.ForCublas());
  return std::make_unique<CublasProduct>(handles.gpu(), *cublas, handle, handles.stream(),
                                         site.shape);
}

}  // namespace yuba::cuda

#endif  // YUBA_WITH_CUDA
