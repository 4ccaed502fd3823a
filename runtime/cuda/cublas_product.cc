#ifdef YUBA_WITH_CUDA
#include "runtime/cuda/cublas_product.h"

namespace yuba::cuda {
namespace {

constexpr int64_t kAlignment = 64;  // floats

int64_t Aligned(int64_t floats) { return (floats + kAlignment - 1) / kAlignment * kAlignment; }

cublasOperation_t Operation(const runtime::MatrixLayout& layout) {
  return layout.transposed ? CUBLAS_OP_T : CUBLAS_OP_N;
}

}  // namespace

CublasProduct::CublasProduct(const Gpu& gpu, const Cublas& cublas, cublasHandle_t handle,
                             cudaStream_t stream, const runtime::LibraryShape& shape)
    : gpu_(gpu),
      cublas_(cublas),
      handle_(handle),
      stream_(stream),
      shape_(shape),
      plan_(runtime::PlanProduct(shape)) {
  if (plan_.a.packed) a_size_ = Aligned(plan_.m * plan_.k);
  if (plan_.b.packed) b_size_ = Aligned(plan_.k * plan_.n);
  if (plan_.c.packed) c_size_ = Aligned(plan_.m * plan_.n);
  if (workspace_bytes() == 0 && !plan_.loops.empty()) {
    batch_ = plan_.loops.back();
    plan_.loops.pop_back();
  }
}

int64_t CublasProduct::workspace_bytes() const {
  return (a_size_ + b_size_ + c_size_) * static_cast<int64_t>(sizeof(float));
}

absl::Status CublasProduct::Run(const float* left, const float* right, float* result,
                                float* workspace) {
  absl::Status status;
  runtime::ForEachStep(plan_.loops, 0, shape_.left, shape_.right, shape_.output,
                       [&](int64_t left_at, int64_t right_at, int64_t result_at) {
                         if (status.ok())
                           status = Step(left + left_at, right + right_at, result + result_at,
                                         workspace);
                       });
  return status;
}

absl::Status CublasProduct::Step(const float* left, const float* right, float* result,
                                 float* workspace) const {
  float* const c = plan_.c.packed ? workspace + a_size_ + b_size_ : result;
  absl::Status status;
  float beta = 0;
  runtime::ForEachStep(plan_.sums, 0, 0, 0, 0, [&](int64_t left_at, int64_t right_at, int64_t) {
    if (!status.ok()) return;
    const float* a = plan_.swapped ? right + right_at : left + left_at;
    const float* b = plan_.swapped ? left + left_at : right + right_at;
    status = Multiply(a, b, beta, c, workspace);
    beta = 1;
  });
  if (!status.ok() || !plan_.c.packed) return status;
  int64_t rows = plan_.m, columns = plan_.n, one = 1;
  runtime::MatrixLayout layout = plan_.c;
  const float* from = c;
  void* parameters[] = {&from, &columns, &one, &result, &layout.row_step, &layout.column_step,
                        &rows, &columns};
  return gpu_.Launch(gpu_.matrix_kernel(), rows * columns, parameters, stream_);
}

absl::Status CublasProduct::Pack(const float* from, const runtime::MatrixLayout& layout,
                                 int64_t rows, int64_t columns, float* to) const {
  runtime::MatrixLayout source = layout;
  int64_t one = 1;
  void* parameters[] = {&from, &source.row_step, &source.column_step, &to, &columns, &one,
                        &rows, &columns};
  return gpu_.Launch(gpu_.matrix_kernel(), rows * columns, parameters, stream_);
}

// cuBLAS is column-major: it sees each matrix transposed and makes the transpose of C, B' A'.
absl::Status CublasProduct::Multiply(const float* a, const float* b, float beta, float* c,
                                     float* workspace) const {
  if (plan_.a.packed) {
    YUBA_RETURN_IF_ERROR(Pack(a, plan_.a, plan_.m, plan_.k, workspace));
    a = workspace;
  }
  if (plan_.b.packed) {
    YUBA_RETURN_IF_ERROR(Pack(b, plan_.b, plan_.k, plan_.n, workspace + a_size_));
    b = workspace + a_size_;
  }
  const float alpha = 1;
  const int64_t a_step = plan_.swapped ? batch_.right : batch_.left;
  const int64_t b_step = plan_.swapped ? batch_.left : batch_.right;
  YUBA_CUDA(cublas_.cublasSgemmStridedBatched_64(
      handle_, Operation(plan_.b), Operation(plan_.a), plan_.n, plan_.m, plan_.k, &alpha, b,
      plan_.b.leading, b_step, a, plan_.a.leading, a_step, &beta, c, plan_.c.leading, batch_.result,
      batch_.extent));
  return absl::OkStatus();
}

}  // namespace yuba::cuda

#endif  // YUBA_WITH_CUDA
