#ifdef YUBA_WITH_CUDA
#include "runtime/cuda/library/cublas_lt_product.h"

#include <limits>

#include "runtime/cuda/library/alignment.h"
#include "runtime/cuda/library/cublas_lt_matmul.h"

namespace yuba::cuda {
namespace {

int64_t Aligned(int64_t bytes) {
  return (bytes + kMostAlignment - 1) / kMostAlignment * kMostAlignment;
}

// Of an element that is copied as it is.
JobType RawType(ElementType type) {
  const int64_t bytes = ByteSize(type);
  return bytes == 2 ? JobType::kRaw16 : bytes == 8 ? JobType::kF64 : JobType::kF32;
}

class CublasLtProduct : public LibraryKernel {
 public:
  CublasLtProduct(const CublasLt& library, const LibrarySite& site, const LibraryHandles& handles)
      : gpu_(handles.gpu()),
        stream_(handles.stream()),
        shape_(site.shape),
        left_(site.left()),
        right_(site.right()),
        result_(site.result()),
        plan_(runtime::PlanProduct(site.shape)),
        matmul_(library) {
    // What several calls add up stays in the accumulator's type until the last has.
    const bool small = ByteSize(shape_.type) == 2;
    sum_type_ = small && !plan_.sums.empty() ? ElementType::kF32 : shape_.result_type;
    if (plan_.a.packed) a_bytes_ = Aligned(plan_.m * plan_.k * ByteSize(shape_.type));
    if (plan_.b.packed) b_bytes_ = Aligned(plan_.k * plan_.n * ByteSize(shape_.type));
    if (plan_.c.packed || sum_type_ != shape_.result_type)
      c_bytes_ = Aligned(plan_.m * plan_.n * ByteSize(sum_type_));
  }

  absl::Status Prepare(const LibrarySite& site, cublasLtHandle_t handle, bool tf32) {
    // The last of the loops is a batch of one call, where nothing is packed.
    const bool in_place = a_bytes_ + b_bytes_ + c_bytes_ == 0;
    runtime::StridedIndex batch;
    if (in_place && !plan_.loops.empty() &&
        plan_.loops.back().extent <= std::numeric_limits<int32_t>::max()) {
      batch = plan_.loops.back();
      plan_.loops.pop_back();
    }
    LtShape shape;
    shape.type = shape_.type;
    shape.result_type = sum_type_;
    shape.tf32 = tf32;
    shape.m = plan_.m;
    shape.n = plan_.n;
    shape.k = plan_.k;
    shape.batch = batch.extent;
    LtOperand left, right;
    left.batch_step = batch.left;
    right.batch_step = batch.right;
    left.alignment = AlignmentIn(site.offsets[left_], shape_.left, &runtime::StridedIndex::left);
    right.alignment =
        AlignmentIn(site.offsets[right_], shape_.right, &runtime::StridedIndex::right);
    shape.a = plan_.swapped ? right : left;
    shape.b = plan_.swapped ? left : right;
    shape.a.layout = plan_.a;
    shape.b.layout = plan_.b;
    shape.c = {
        plan_.c, batch.result,
        AlignmentOf(site.offsets[result_] + shape_.output * ByteSize(shape_.result_type),
                    ByteSize(shape_.result_type), {&plan_.loops}, &runtime::StridedIndex::result)};
    if (a_bytes_ > 0) shape.a.alignment = kMostAlignment;
    if (b_bytes_ > 0) shape.b.alignment = kMostAlignment;
    if (c_bytes_ > 0) {
      shape.c.alignment = kMostAlignment;
      shape.c.layout.leading = plan_.n;
    }
    return matmul_.Prepare(handle, shape);
  }

  int64_t workspace_bytes() const override {
    return a_bytes_ + b_bytes_ + c_bytes_ + matmul_.workspace_bytes();
  }

  absl::Status Run(absl::Span<char* const> buffers, char* workspace) override {
    const char* const left = buffers[left_];
    const char* const right = buffers[right_];
    char* const result = buffers[result_];
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

 private:
  int64_t AlignmentIn(int64_t buffer, int64_t first, int64_t runtime::StridedIndex::* step) const {
    const int64_t bytes = ByteSize(shape_.type);
    return AlignmentOf(buffer + first * bytes, bytes, {&plan_.loops, &plan_.sums}, step);
  }

  absl::Status Step(const char* left, const char* right, char* result, char* workspace) const {
    const int64_t operand = ByteSize(shape_.type);
    char* const c = c_bytes_ > 0 ? workspace + a_bytes_ + b_bytes_ : result;
    absl::Status status;
    bool first = true;
    runtime::ForEachStep(plan_.sums, 0, 0, 0, 0, [&](int64_t left_at, int64_t right_at, int64_t) {
      if (!status.ok()) return;
      const char* from_left = left + left_at * operand;
      const char* from_right = right + right_at * operand;
      status = Multiply(plan_.swapped ? from_right : from_left,
                        plan_.swapped ? from_left : from_right, first, c, workspace);
      first = false;
    });
    return !status.ok() || c_bytes_ == 0 ? status : Unpack(c, result);
  }

  // C from the workspace to where it belongs.
  absl::Status Unpack(const char* c, char* result) const {
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

  absl::Status Pack(const char* from, const runtime::MatrixLayout& layout, int64_t rows,
                    int64_t columns, char* to) const {
    const JobType type = RawType(shape_.type);
    return gpu_.LaunchMatrixCopy(
        {from, layout.row_step, layout.column_step, to, columns, 1, rows, columns, type, type},
        stream_);
  }

  // C = A B, or C + A B unless it is the `first` of a sum.
  absl::Status Multiply(const char* a, const char* b, bool first, char* c, char* workspace) const {
    if (plan_.a.packed) {
      YUBA_RETURN_IF_ERROR(Pack(a, plan_.a, plan_.m, plan_.k, workspace));
      a = workspace;
    }
    if (plan_.b.packed) {
      YUBA_RETURN_IF_ERROR(Pack(b, plan_.b, plan_.k, plan_.n, workspace + a_bytes_));
      b = workspace + a_bytes_;
    }
    return matmul_.Run(a, b, c, !first, workspace + a_bytes_ + b_bytes_ + c_bytes_, stream_);
  }

  const Gpu& gpu_;
  const cudaStream_t stream_;
  const runtime::LibraryShape shape_;
  const int left_, right_, result_;  // among the buffers
  runtime::ProductPlan plan_;
  ElementType sum_type_ = ElementType::kF32;  // of C as the library writes it
  CublasLtMatmul matmul_;
  int64_t a_bytes_ = 0, b_bytes_ = 0, c_bytes_ = 0;  // of matrices in the workspace
};

}  // namespace

absl::StatusOr<std::unique_ptr<LibraryKernel>> MakeCublasLtProduct(const LibrarySite& site,
                                                                   LibraryHandles& handles) {
  YUBA_ASSIGN_OR_RETURN(const CublasLt* library, CublasLt::Open());
  YUBA_ASSIGN_OR_RETURN(const cublasLtHandle_t handle, handles.ForCublasLt());
  auto product = std::make_unique<CublasLtProduct>(*library, site, handles);
  YUBA_RETURN_IF_ERROR(product->Prepare(site, handle, site.call().tf32()));
  return std::unique_ptr<LibraryKernel>(std::move(product));
}

}  // namespace yuba::cuda

#endif  // YUBA_WITH_CUDA
