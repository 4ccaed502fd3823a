// Contractions through oneDNN's matrix product, which is planned for its extents, does post-ops and
// may have its right matrix in a form of its own. The innermost of the loops round the planned
// product is its batch; the library's own threads share all of it.
#include <algorithm>

#include "absl/types/optional.h"
#include "opsemantics/base/status.h"
#include "runtime/host/onednn.h"
#include "runtime/host/onednn_objects.h"
#include "runtime/program/enums.h"

namespace yuba::runtime {
namespace {

class MatrixProduct : public LibraryKernel {
 public:
  MatrixProduct(const OneDnn& library, const LibraryShape& shape)
      : library_(library),
        shape_(shape),
        plan_(PlanProduct(shape)),
        product_(library),
        post_ops_(library),
        bias_(library),
        a_(library),
        b_(library),
        c_(library),
        scratchpad_(library) {
    if (plan_.loops.empty()) return;
    const StridedIndex& last = plan_.loops.back();
    if (last.left == 0 || last.right == 0 || last.result == 0)
      return;  // no batch: it is read again
    batch_ = last;
    plan_.loops.pop_back();
  }
  ~MatrixProduct() override {
    if (stream_ != nullptr) library_.stream_destroy(stream_);
  }

  // False where the library has no fast routine for it.
  absl::StatusOr<bool> Prepare(bool keep_right) {
    if (plan_.a.packed || plan_.b.packed || plan_.c.packed || !plan_.sums.empty()) return false;
    const bool bf16 = shape_.type == ElementType::kBF16;
    const dnnl_data_type_t type = bf16 ? dnnl_bf16 : dnnl_f32;
    const bool wide = shape_.result_type == ElementType::kF32;
    const int64_t a_batch = plan_.swapped ? batch_.right : batch_.left;
    const int64_t b_batch = plan_.swapped ? batch_.left : batch_.right;
    Format a, b, c;
    // What the library cannot describe it cannot multiply.
    if (!Describe(plan_.m, plan_.k, a_batch, plan_.a, type, a).ok() ||
        !Describe(plan_.k, plan_.n, b_batch, plan_.b, type, b).ok() ||
        !Describe(plan_.m, plan_.n, batch_.result, plan_.c, wide ? dnnl_f32 : dnnl_bf16, c).ok()) {
      return false;
    }
    YUBA_ASSIGN_OR_RETURN(const bool possible, PreparePostOps());
    if (!possible) return false;
    const bool keeps = keep_right && !plan_.swapped && plan_.loops.empty() && !bf16;
    dnnl_matmul_desc_t desc;
    if (library_.matmul_desc_init(&desc, &a.plain, keeps ? &b.any : &b.plain,
                                  has_bias_ ? &bias_desc_ : nullptr, &c.plain) != dnnl_success) {
      return false;
    }
    YUBA_ASSIGN_OR_RETURN(const bool fast, product_.Product(desc, &post_ops_, bf16));
    if (!fast) return false;
    const dnnl_memory_desc_t& inner = keeps ? product_.Query(dnnl_query_weights_md, 0) : b.plain;
    YUBA_RETURN_IF_ERROR(a_.Create(a.plain));
    YUBA_RETURN_IF_ERROR(b_.Prepare(library_, b.plain, inner, DnnlTensor::kOperand));
    YUBA_RETURN_IF_ERROR(c_.Create(c.plain));
    if (b_.reordered) YUBA_RETURN_IF_ERROR(b_.Keep());
    return PrepareWorkspace();
  }

  int64_t workspace_bytes() const override { return DnnlAligned(Scratchpad()); }
  int64_t kept_bytes() const override { return b_.kept_bytes; }
  void ForgetKept() override { b_.is_kept = false; }
  bool does_post_ops() const override { return true; }

  absl::Status Run(const LibraryBuffers& buffers, char* workspace) override {
    dnnl_status_t status = dnnl_success;
    const int64_t element = ByteSize(shape_.type);
    ForEachStep(plan_.loops, 0, shape_.left, shape_.right, shape_.output,
                [&](int64_t left_at, int64_t right_at, int64_t result_at) {
                  if (status != dnnl_success) return;
                  const char* const l = static_cast<const char*>(buffers.left) + left_at * element;
                  const char* const r =
                      static_cast<const char*>(buffers.right) + right_at * element;
                  char* const y =
                      static_cast<char*>(buffers.result) + result_at * ByteSize(shape_.result_type);
                  const char* const b = plan_.swapped ? l : r;
                  status = Multiply(plan_.swapped ? r : l, b, y, buffers.post, workspace);
                });
    if (status == dnnl_success) status = library_.stream_wait(stream_);
    if (status != dnnl_success) return OneDnnError("a matrix product", status);
    return absl::OkStatus();
  }

 private:
  struct Format {
    dnnl_memory_desc_t plain, any;
  };

  absl::Status Describe(int64_t rows, int64_t columns, int64_t batch_step,
                        const MatrixLayout& layout, dnnl_data_type_t type, Format& format) const {
    DnnlDimensions dimensions;
    if (batch_.extent > 1) dimensions.Add(batch_.extent, batch_step);
    dimensions.Add(rows, layout.row_step);
    dimensions.Add(columns, layout.column_step);
    return dimensions.Describe(library_, &format.plain, &format.any, type);
  }

  // Operands of post-ops lie like the result, or are one row of it, or one element. False where one
  // does not. A row that is added first is the call's bias, which costs no step of its own.
  absl::StatusOr<bool> PreparePostOps() {
    if (shape_.post_ops.empty()) return true;
    if (!plan_.loops.empty() || batch_.extent > 1) return false;
    for (const PostOpShape& step : shape_.post_ops) {
      absl::optional<dnnl_memory_desc_t> operand;
      if (step.number >= 0) {
        const int64_t row = StepOf(plan_.c_row, step), column = StepOf(plan_.c_column, step);
        const bool like_result = row == plan_.c.row_step && column == plan_.c.column_step;
        if (!like_result && (row != 0 || column > 1)) return false;
        DnnlDimensions dimensions;
        dimensions.Add(row != 0 ? plan_.m : 1, row);
        dimensions.Add(column != 0 ? plan_.n : 1, column);
        dnnl_memory_desc_t any;
        YUBA_RETURN_IF_ERROR(dimensions.Describe(library_, &operand.emplace(), &any));
        if (&step == &shape_.post_ops[0] && step.kind == program::PostOp::ADD && column == 1 &&
            row == 0) {
          has_bias_ = true;
          bias_desc_ = *operand;
          YUBA_RETURN_IF_ERROR(bias_.Create(bias_desc_));
          continue;
        }
      }
      YUBA_RETURN_IF_ERROR(post_ops_.Add(step, operand));
    }
    return true;
  }

  static int64_t StepOf(const StridedIndex& index, const PostOpShape& step) {
    return index.post.empty() ? 0 : index.post[step.number];
  }

  int64_t Scratchpad() const { return std::max(product_.scratchpad(), b_.scratchpad()); }

  absl::StatusOr<bool> PrepareWorkspace() {
    const dnnl_dim_t extent = std::max<int64_t>(Scratchpad(), 1);
    dnnl_memory_desc_t scratchpad;
    dnnl_status_t status =
        library_.memory_desc_init_by_tag(&scratchpad, 1, &extent, dnnl_u8, dnnl_a);
    if (status == dnnl_success) {
      status = library_.stream_create(&stream_, library_.engine, dnnl_stream_default_flags);
    }
    if (status != dnnl_success) return OneDnnError("preparing a matrix product", status);
    YUBA_RETURN_IF_ERROR(scratchpad_.Create(scratchpad));
    return true;
  }

  dnnl_status_t Multiply(const char* a, const char* b, char* c,
                         const std::vector<const void*>& post, char* workspace) {
    dnnl_status_t status = dnnl_success;
    dnnl_memory_t right = b_.inner.At(b_.kept_bytes > 0 ? b_.kept.data() : b);
    if (b_.kept_bytes > 0 && !b_.is_kept) {
      const dnnl_exec_arg_t copy[] = {{DNNL_ARG_FROM, b_.plain.At(b)},
                                      {DNNL_ARG_TO, right},
                                      {DNNL_ARG_SCRATCHPAD, scratchpad_.At(workspace)}};
      status = library_.primitive_execute(b_.reorder.get(), stream_, 3, copy);
      b_.is_kept = status == dnnl_success;
    }
    std::vector<dnnl_exec_arg_t> arguments = {{DNNL_ARG_SRC, a_.At(a)},
                                              {DNNL_ARG_WEIGHTS, right},
                                              {DNNL_ARG_DST, c_.At(c)},
                                              {DNNL_ARG_SCRATCHPAD, scratchpad_.At(workspace)}};
    for (size_t number = 0; number < post.size(); ++number) {
      const int64_t offset = shape_.post_op_walk.buffers[1 + number].offset;
      const float* const data = static_cast<const float*>(post[number]) + offset;
      if (has_bias_ && number == 0) {
        arguments.push_back({DNNL_ARG_BIAS, bias_.At(data)});
      } else {
        arguments.push_back(post_ops_.Argument(has_bias_ ? number - 1 : number, data));
      }
    }
    if (status != dnnl_success) return status;
    return library_.primitive_execute(product_.get(), stream_, static_cast<int>(arguments.size()),
                                      arguments.data());
  }

  const OneDnn& library_;
  const LibraryShape shape_;
  ProductPlan plan_;
  StridedIndex batch_;  // of extent 1 where there is none
  DnnlPrimitive product_;
  bool has_bias_ = false;  // operand 0 of the post-ops is the call's bias
  dnnl_memory_desc_t bias_desc_ = {};
  DnnlPostOps post_ops_;
  DnnlMemory bias_, a_;
  DnnlTensor b_;
  DnnlMemory c_, scratchpad_;
  dnnl_stream_t stream_ = nullptr;
};

}  // namespace

absl::StatusOr<std::unique_ptr<LibraryKernel>> MakeMatrixProduct(const OneDnn& library,
                                                                 const LibraryShape& shape,
                                                                 bool keep_right) {
  auto product = std::make_unique<MatrixProduct>(library, shape);
  YUBA_ASSIGN_OR_RETURN(const bool possible, product->Prepare(keep_right));
  if (!possible) return std::unique_ptr<LibraryKernel>();
  return std::unique_ptr<LibraryKernel>(std::move(product));
}

}  // namespace yuba::runtime
