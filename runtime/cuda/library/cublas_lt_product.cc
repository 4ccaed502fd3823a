#ifdef YUBA_WITH_CUDA
#include "runtime/cuda/library/cublas_lt_product.h"

#include <algorithm>
#include <limits>

#include "runtime/cuda/library/alignment.h"
#include "runtime/cuda/library/cublas_lt_objects.h"

namespace yuba::cuda {
namespace {

// What an algorithm may take. More would give other bits.
constexpr size_t kWorkspaceLimit = size_t{32} << 20;
// Partial sums are kept in the accumulator's type and added up in a step of their own.
constexpr uint32_t kReductions =
    CUBLASLT_REDUCTION_SCHEME_NONE | CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE;

int64_t Aligned(int64_t bytes) {
  return (bytes + kMostAlignment - 1) / kMostAlignment * kMostAlignment;
}

cublasOperation_t Operation(const runtime::MatrixLayout& layout) {
  return layout.transposed ? CUBLAS_OP_T : CUBLAS_OP_N;
}

cudaDataType CudaType(ElementType type) {
  return type == ElementType::kF64   ? CUDA_R_64F
         : type == ElementType::kF32 ? CUDA_R_32F
         : type == ElementType::kF16 ? CUDA_R_16F
                                     : CUDA_R_16BF;
}

// Of an element that is copied as it is.
JobType RawType(ElementType type) {
  const int64_t bytes = ByteSize(type);
  return bytes == 2 ? JobType::kRaw16 : bytes == 8 ? JobType::kF64 : JobType::kF32;
}

class CublasLtProduct : public LibraryKernel {
 public:
  CublasLtProduct(const CublasLt& library, cublasLtHandle_t handle, const LibrarySite& site,
                  const LibraryHandles& handles)
      : library_(library),
        handle_(handle),
        gpu_(handles.gpu()),
        stream_(handles.stream()),
        shape_(site.shape),
        plan_(runtime::PlanProduct(site.shape)),
        product_(library.cublasLtMatmulDescDestroy, library.cublasLtMatmulDescSetAttribute),
        first_(library.cublasLtMatrixLayoutDestroy, library.cublasLtMatrixLayoutSetAttribute),
        second_(library.cublasLtMatrixLayoutDestroy, library.cublasLtMatrixLayoutSetAttribute),
        result_(library.cublasLtMatrixLayoutDestroy, library.cublasLtMatrixLayoutSetAttribute) {
    // What several calls add up stays in the accumulator's type until the last has.
    const bool small = ByteSize(shape_.type) == 2;
    sum_type_ = small && !plan_.sums.empty() ? ElementType::kF32 : shape_.result_type;
    if (plan_.a.packed) a_bytes_ = Aligned(plan_.m * plan_.k * ByteSize(shape_.type));
    if (plan_.b.packed) b_bytes_ = Aligned(plan_.k * plan_.n * ByteSize(shape_.type));
    if (plan_.c.packed || sum_type_ != shape_.result_type)
      c_bytes_ = Aligned(plan_.m * plan_.n * ByteSize(sum_type_));
    const bool in_place = a_bytes_ + b_bytes_ + c_bytes_ == 0;
    if (in_place && !plan_.loops.empty() &&
        plan_.loops.back().extent <= std::numeric_limits<int32_t>::max()) {
      batch_ = plan_.loops.back();
      plan_.loops.pop_back();
    }
  }

  // Describes the product and chooses the algorithm.
  absl::Status Prepare(const LibrarySite& site, bool tf32) {
    const bool doubles = shape_.type == ElementType::kF64;
    const bool rounded = tf32 && shape_.type == ElementType::kF32;
    YUBA_CUDA(library_.cublasLtMatmulDescCreate(product_.slot(),
                                                doubles   ? CUBLAS_COMPUTE_64F
                                                : rounded ? CUBLAS_COMPUTE_32F_FAST_TF32
                                                          : CUBLAS_COMPUTE_32F,
                                                doubles ? CUDA_R_64F : CUDA_R_32F));
    // cuBLAS is column-major: it sees each matrix transposed and makes the transpose of C, B' A'.
    YUBA_RETURN_IF_ERROR(product_.Set<int32_t>(CUBLASLT_MATMUL_DESC_TRANSA, Operation(plan_.b)));
    YUBA_RETURN_IF_ERROR(product_.Set<int32_t>(CUBLASLT_MATMUL_DESC_TRANSB, Operation(plan_.a)));
    const int64_t a_step = plan_.swapped ? batch_.right : batch_.left;
    const int64_t b_step = plan_.swapped ? batch_.left : batch_.right;
    YUBA_RETURN_IF_ERROR(Describe(first_, shape_.type, plan_.n, plan_.k, plan_.b, b_step));
    YUBA_RETURN_IF_ERROR(Describe(second_, shape_.type, plan_.k, plan_.m, plan_.a, a_step));
    runtime::MatrixLayout written = plan_.c;
    if (c_bytes_ > 0) written.leading = plan_.n;
    YUBA_RETURN_IF_ERROR(Describe(result_, sum_type_, plan_.n, plan_.m, written, batch_.result));
    return Choose(site);
  }

  int64_t workspace_bytes() const override {
    return a_bytes_ + b_bytes_ + c_bytes_ + algorithm_bytes_;
  }

  absl::Status Run(const char* left, const char* right, char* result, char* workspace) override {
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
  // A matrix as the library sees it, rows x columns before `layout` transposes it.
  absl::Status Describe(LtMatrix& matrix, ElementType type, int64_t rows, int64_t columns,
                        const runtime::MatrixLayout& layout, int64_t batch_step) {
    if (layout.transposed) std::swap(rows, columns);
    YUBA_CUDA(library_.cublasLtMatrixLayoutCreate(matrix.slot(), CudaType(type), rows, columns,
                                                  layout.leading));
    YUBA_RETURN_IF_ERROR(
        matrix.Set(CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, static_cast<int32_t>(batch_.extent)));
    return matrix.Set(CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET, batch_step);
  }

  absl::Status Choose(const LibrarySite& site) {
    LtPreference wanted(library_.cublasLtMatmulPreferenceDestroy,
                        library_.cublasLtMatmulPreferenceSetAttribute);
    YUBA_CUDA(library_.cublasLtMatmulPreferenceCreate(wanted.slot()));
    YUBA_RETURN_IF_ERROR(
        wanted.Set(CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, uint64_t{kWorkspaceLimit}));
    YUBA_RETURN_IF_ERROR(wanted.Set(CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK, kReductions));
    YUBA_RETURN_IF_ERROR(SetAlignments(site, wanted));
    cublasLtMatmulHeuristicResult_t found = {};
    int count = 0;
    YUBA_CUDA(library_.cublasLtMatmulAlgoGetHeuristic(handle_, product_.get(), first_.get(),
                                                      second_.get(), result_.get(), result_.get(),
                                                      wanted.get(), 1, &found, &count));
    if (count == 0) return absl::UnimplementedError("cuBLAS has no algorithm for a product");
    YUBA_CUDA(found.state);
    algorithm_ = found.algo;
    algorithm_bytes_ = static_cast<int64_t>(found.workspaceSize);
    return absl::OkStatus();
  }

  absl::Status SetAlignments(const LibrarySite& site, LtPreference& wanted) const {
    const int64_t operand = ByteSize(shape_.type), written = ByteSize(shape_.result_type);
    const auto of = [&](int64_t buffer, int64_t first, int64_t bytes,
                        int64_t runtime::StridedIndex::* step) {
      return AlignmentOf(buffer + first * bytes, bytes, {&plan_.loops, &plan_.sums}, step);
    };
    int64_t a = of(site.left, shape_.left, operand, &runtime::StridedIndex::left);
    int64_t b = of(site.right, shape_.right, operand, &runtime::StridedIndex::right);
    int64_t c = of(site.result, shape_.output, written, &runtime::StridedIndex::result);
    if (plan_.swapped) std::swap(a, b);
    if (a_bytes_ > 0) a = kMostAlignment;
    if (b_bytes_ > 0) b = kMostAlignment;
    if (c_bytes_ > 0) c = kMostAlignment;
    const std::pair<cublasLtMatmulPreferenceAttributes_t, int64_t> alignments[] = {
        {CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES, b},
        {CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES, a},
        {CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES, c},
        {CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES, c}};
    for (const auto& [attribute, bytes] : alignments)
      YUBA_RETURN_IF_ERROR(wanted.Set(attribute, static_cast<uint32_t>(bytes)));
    return absl::OkStatus();
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
    const double one = 1, before = first ? 0 : 1;
    const float one_f32 = 1, before_f32 = first ? 0 : 1;
    const bool doubles = shape_.type == ElementType::kF64;
    YUBA_CUDA(library_.cublasLtMatmul(
        handle_, product_.get(), doubles ? static_cast<const void*>(&one) : &one_f32, b,
        first_.get(), a, second_.get(), doubles ? static_cast<const void*>(&before) : &before_f32,
        c, result_.get(), c, result_.get(), &algorithm_, workspace + a_bytes_ + b_bytes_ + c_bytes_,
        static_cast<size_t>(algorithm_bytes_), stream_));
    return absl::OkStatus();
  }

  const CublasLt& library_;
  const cublasLtHandle_t handle_;
  const Gpu& gpu_;
  const cudaStream_t stream_;
  const runtime::LibraryShape shape_;
  runtime::ProductPlan plan_;
  ElementType sum_type_ = ElementType::kF32;  // of C as the library writes it
  // The last of the loops, in one batched call, where nothing is packed.
  runtime::StridedIndex batch_;
  LtProduct product_;
  LtMatrix first_, second_, result_;  // as the library has them: B, A and C transposed
  cublasLtMatmulAlgo_t algorithm_ = {};
  int64_t a_bytes_ = 0, b_bytes_ = 0, c_bytes_ = 0;  // of matrices in the workspace
  int64_t algorithm_bytes_ = 0;                      // behind them
};

}  // namespace

absl::StatusOr<std::unique_ptr<LibraryKernel>> MakeCublasLtProduct(const LibrarySite& site,
                                                                   LibraryHandles& handles) {
  YUBA_ASSIGN_OR_RETURN(const CublasLt* library, CublasLt::Open());
  YUBA_ASSIGN_OR_RETURN(const cublasLtHandle_t handle, handles.ForCublasLt());
  auto product = std::make_unique<CublasLtProduct>(*library, handle, site, handles);
  const auto& function = site.program.message().functions(site.kernel.function());
  YUBA_RETURN_IF_ERROR(product->Prepare(site, function.library().tf32()));
  return std::unique_ptr<LibraryKernel>(std::move(product));
}

}  // namespace yuba::cuda

#endif  // YUBA_WITH_CUDA
