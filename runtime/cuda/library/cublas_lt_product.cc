#ifdef YUBA_WITH_CUDA
#include "runtime/cuda/library/cublas_lt_product.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "runtime/cuda/library/alignment.h"
#include "runtime/cuda/library/cublas_lt_joint.h"
#include "runtime/cuda/library/cublas_lt_matmul.h"
#include "runtime/cuda/library/raw_type.h"

namespace yuba::cuda {
namespace {

class CublasLtProduct : public LibraryKernel {
 public:
  CublasLtProduct(const CublasLt& library, const LibrarySite& site, const LibraryHandles& handles,
                  runtime::ProductPlan plan, const LtEpilogue& epilogue,
                  const absl::optional<LtJoint>& joint)
      : gpu_(handles.gpu()),
        stream_(handles.stream()),
        shape_(site.shape),
        left_(site.left()),
        right_(site.right()),
        result_(site.result()),
        joint_result_(site.joint_result()),
        plan_(std::move(plan)),
        epilogue_(epilogue),
        joint_(joint),
        matmul_(library) {
    // What several calls add up stays in the accumulator's type until the last has.
    const bool small = ByteSize(shape_.type) == 2;
    sum_type_ = small && !plan_.sums.empty() ? ElementType::kF32 : shape_.result_type;
    if (plan_.a.packed) a_bytes_ = Aligned(plan_.m * plan_.k * ByteSize(shape_.type));
    if (plan_.b.packed) b_bytes_ = Aligned(plan_.k * plan_.n * ByteSize(shape_.type));
    if (plan_.c.packed || sum_type_ != shape_.result_type)
      c_bytes_ = Aligned(plan_.m * plan_.n * ByteSize(sum_type_));
  }

  absl::Status Prepare(const LibrarySite& site, cublasLtHandle_t handle, bool tf32,
                       LtTuner* tuner) {
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
    shape.d = {
        plan_.c, batch.result,
        AlignmentOf(site.offsets[result_] + shape_.output * ByteSize(shape_.result_type),
                    ByteSize(shape_.result_type), {&plan_.loops}, &runtime::StridedIndex::result)};
    if (a_bytes_ > 0) shape.a.alignment = kMostAlignment;
    if (b_bytes_ > 0) shape.b.alignment = kMostAlignment;
    if (c_bytes_ > 0) {
      shape.d.alignment = kMostAlignment;
      shape.d.layout.leading = plan_.n;
    }
    AddEpilogue(site, batch, shape);
    if (joint_.has_value()) AddJoint(site, shape);
    return matmul_.Prepare(handle, shape, tuner);
  }

  int64_t workspace_bytes() const override {
    return a_bytes_ + b_bytes_ + c_bytes_ + matmul_.workspace_bytes();
  }

  absl::Status Run(absl::Span<char* const> buffers, char* workspace) override {
    const int64_t operand = ByteSize(shape_.type), written = ByteSize(shape_.result_type);
    runtime::StepOffsets first = {shape_.left, shape_.right, shape_.output, {}};
    for (size_t n = 1; n < shape_.post_op_walk.buffers.size(); ++n)
      first.post.push_back(shape_.post_op_walk.buffers[n].offset);
    absl::Status status;
    runtime::ForEachStep(plan_.loops, 0, first, [&](const runtime::StepOffsets& at) {
      if (!status.ok()) return;
      Pointers pointers;
      pointers.left = buffers[left_] + at.left * operand;
      pointers.right = buffers[right_] + at.right * operand;
      pointers.result = buffers[result_] + at.result * written;
      const auto post = [&](int step) -> char* {
        if (step < 0) return nullptr;
        const runtime::PostOpShape& read = shape_.post_ops[step];
        return buffers[read.operand] + at.post[read.number] * written;
      };
      pointers.residual = post(epilogue_.residual);
      pointers.bias = post(epilogue_.bias);
      if (joint_.has_value()) {
        char* const second = buffers[joint_result_] + joint_->first * written;
        if (HasSums()) {
          pointers.sums = second;
        } else {
          const bool slope = joint_->kind == program::JointCall::SLOPE;
          pointers.aux = slope ? buffers[joint_result_ + 1] + at.result * written : pointers.result;
          pointers.result = second + (at.result - shape_.output) * written;
        }
      }
      status = Step(pointers, workspace);
    });
    return status;
  }

 private:
  // Of one step of the loops.
  struct Pointers {
    const char* left = nullptr;
    const char* right = nullptr;
    char* result = nullptr;
    const char* residual = nullptr;
    const char* bias = nullptr;
    char* aux = nullptr;
    char* sums = nullptr;
  };

  bool HasSums() const { return joint_->kind == program::JointCall::OPERAND_SUMS; }

  void AddJoint(const LibrarySite& site, LtShape& shape) const {
    const int64_t bytes = ByteSize(shape_.result_type);
    const int64_t begin = site.offsets[joint_result_] + joint_->first * bytes;
    if (HasSums()) {
      shape.sums = LtShape::Sums{joint_->of_a, CommonAlignment({begin})};
      return;
    }
    shape.aux = shape.d;
    const auto alignment = [&](int64_t from) {
      return AlignmentOf(from, bytes, {&plan_.loops}, &runtime::StridedIndex::result);
    };
    if (joint_->kind == program::JointCall::ACTIVATION)
      shape.activation = LtEpilogue::kGeluTanh;
    else
      shape.aux->alignment = alignment(site.offsets[joint_result_ + 1] + shape_.output * bytes);
    shape.d.alignment = alignment(begin);
  }

  void AddEpilogue(const LibrarySite& site, const runtime::StridedIndex& batch,
                   LtShape& shape) const {
    shape.alpha = epilogue_.alpha;
    shape.activation = epilogue_.activation;
    const auto batch_step = [&](const runtime::PostOpShape& step) {
      return batch.post.empty() ? 0 : batch.post[step.number];
    };
    if (epilogue_.bias >= 0) {
      const runtime::PostOpShape& bias = shape_.post_ops[epilogue_.bias];
      shape.bias = LtShape::Bias{batch_step(bias), AlignmentOfStep(site, bias)};
    }
    if (epilogue_.residual < 0) return;
    const runtime::PostOpShape& residual = shape_.post_ops[epilogue_.residual];
    shape.beta = epilogue_.beta;
    LtOperand& added = shape.residual.emplace();
    added.layout.leading = plan_.n;
    if (plan_.m > 1) added.layout.leading = std::max(plan_.n, plan_.c_row.post[residual.number]);
    added.batch_step = batch_step(residual);
    added.alignment = AlignmentOfStep(site, residual);
  }

  // Of the pointers to a step's operand.
  int64_t AlignmentOfStep(const LibrarySite& site, const runtime::PostOpShape& step) const {
    const int64_t bytes = ByteSize(shape_.result_type);
    const int64_t first = shape_.post_op_walk.buffers[1 + step.number].offset;
    return AlignmentOfPost(site.offsets[step.operand] + first * bytes, bytes, plan_.loops,
                           step.number);
  }

  int64_t AlignmentIn(int64_t buffer, int64_t first, int64_t runtime::StridedIndex::* step) const {
    const int64_t bytes = ByteSize(shape_.type);
    return AlignmentOf(buffer + first * bytes, bytes, {&plan_.loops, &plan_.sums}, step);
  }

  absl::Status Step(const Pointers& pointers, char* workspace) {
    const int64_t operand = ByteSize(shape_.type);
    LtPointers product;
    product.d = c_bytes_ > 0 ? workspace + a_bytes_ + b_bytes_ : pointers.result;
    product.residual = pointers.residual;
    product.bias = pointers.bias;
    product.aux = pointers.aux;
    product.sums = pointers.sums;
    absl::Status status;
    bool first = true;
    runtime::ForEachStep(plan_.sums, 0, 0, 0, 0, [&](int64_t left_at, int64_t right_at, int64_t) {
      if (!status.ok()) return;
      product.a = pointers.left + left_at * operand;
      product.b = pointers.right + right_at * operand;
      if (plan_.swapped) std::swap(product.a, product.b);
      status = Multiply(product, first, workspace);
      first = false;
    });
    return !status.ok() || c_bytes_ == 0 ? status : Unpack(product.d, pointers.result);
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

  // Adds to what the result holds unless it is the `first` of a sum.
  absl::Status Multiply(LtPointers product, bool first, char* workspace) {
    if (plan_.a.packed) {
      YUBA_RETURN_IF_ERROR(Pack(product.a, plan_.a, plan_.m, plan_.k, workspace));
      product.a = workspace;
    }
    if (plan_.b.packed) {
      YUBA_RETURN_IF_ERROR(Pack(product.b, plan_.b, plan_.k, plan_.n, workspace + a_bytes_));
      product.b = workspace + a_bytes_;
    }
    return matmul_.Run(product, !first, workspace + a_bytes_ + b_bytes_ + c_bytes_, stream_);
  }

  const Gpu& gpu_;
  const cudaStream_t stream_;
  const runtime::LibraryShape shape_;
  const int left_, right_, result_, joint_result_;  // among the buffers
  runtime::ProductPlan plan_;
  const LtEpilogue epilogue_;
  const absl::optional<LtJoint> joint_;
  ElementType sum_type_ = ElementType::kF32;  // of C as the library writes it
  CublasLtMatmul matmul_;
  int64_t a_bytes_ = 0, b_bytes_ = 0, c_bytes_ = 0;  // of matrices in the workspace
};

// The cheapest plan of the product that the library does with what follows it and a second kernel.
absl::optional<runtime::ProductPlan> PlanFor(const LibrarySite& site) {
  if (site.joint == nullptr) return PlanWithEpilogue(site.shape);
  return runtime::PlanProduct(site.shape, [&](const runtime::ProductPlan& plan) {
    const auto epilogue = EpilogueOf(site.shape, plan);
    const bool slope = site.joint->call.kind() == program::JointCall::SLOPE;
    return epilogue.has_value() && epilogue->activation == LtEpilogue::kNone &&
           !(slope && (epilogue->bias >= 0 || epilogue->residual >= 0)) &&
           JointOf(site, plan).has_value();
  });
}

}  // namespace

absl::StatusOr<std::unique_ptr<LibraryKernel>> MakeCublasLtProduct(const LibrarySite& site,
                                                                   LibraryHandles& handles) {
  YUBA_ASSIGN_OR_RETURN(const CublasLt* library, CublasLt::Open());
  YUBA_ASSIGN_OR_RETURN(const cublasLtHandle_t handle, handles.ForCublasLt());
  const auto plan = PlanFor(site);
  if (!plan.has_value())
    return absl::UnimplementedError("cuBLAS does not do in one call what follows a product");
  const absl::optional<LtJoint> joint =
      site.joint == nullptr ? absl::nullopt : JointOf(site, *plan);
  auto product = std::make_unique<CublasLtProduct>(*library, site, handles, *plan,
                                                   *EpilogueOf(site.shape, *plan), joint);
  YUBA_RETURN_IF_ERROR(product->Prepare(site, handle, site.call().tf32(), handles.tuner()));
  return std::unique_ptr<LibraryKernel>(std::move(product));
}

}  // namespace yuba::cuda

#endif  // YUBA_WITH_CUDA
