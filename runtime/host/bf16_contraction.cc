// Contractions of bf16 through oneDNN's matrix product, accumulated in f32. The innermost of the
// loops round the planned product is its batch; the library's own threads share all of it.
#include <algorithm>

#include "opsemantics/base/status.h"
#include "runtime/host/onednn.h"
#include "runtime/host/onednn_objects.h"

namespace yuba::runtime {
namespace {

constexpr int64_t kElement = 2;  // bytes of a bf16

class BF16Contraction : public LibraryKernel {
 public:
  BF16Contraction(const OneDnn& library, const LibraryShape& shape)
      : library_(library),
        shape_(shape),
        plan_(PlanProduct(shape)),
        product_(library),
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
  ~BF16Contraction() override {
    if (stream_ != nullptr) library_.stream_destroy(stream_);
  }

  // False where the library has no fast routine for it.
  absl::StatusOr<bool> Prepare() {
    if (plan_.a.packed || plan_.b.packed || plan_.c.packed || !plan_.sums.empty()) return false;
    const int64_t a_batch = plan_.swapped ? batch_.right : batch_.left;
    const int64_t b_batch = plan_.swapped ? batch_.left : batch_.right;
    const bool wide = shape_.result_type == ElementType::kF32;
    dnnl_memory_desc_t a, b, c;
    dnnl_matmul_desc_t desc;
    // What the library cannot describe it cannot multiply.
    if (!Describe(plan_.m, plan_.k, a_batch, plan_.a, dnnl_bf16, &a).ok() ||
        !Describe(plan_.k, plan_.n, b_batch, plan_.b, dnnl_bf16, &b).ok() ||
        !Describe(plan_.m, plan_.n, batch_.result, plan_.c, wide ? dnnl_f32 : dnnl_bf16, &c).ok() ||
        library_.matmul_desc_init(&desc, &a, &b, nullptr, &c) != dnnl_success) {
      return false;
    }
    YUBA_ASSIGN_OR_RETURN(const bool fast, product_.Product(desc));
    if (!fast) return false;
    YUBA_RETURN_IF_ERROR(a_.Create(a));
    YUBA_RETURN_IF_ERROR(b_.Create(b));
    YUBA_RETURN_IF_ERROR(c_.Create(c));
    const dnnl_dim_t extent = std::max<int64_t>(product_.scratchpad(), 1);
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

  int64_t workspace_bytes() const override { return DnnlAligned(product_.scratchpad()); }

  absl::Status Run(const void* left, const void* right, void* result, char* workspace) override {
    dnnl_status_t status = dnnl_success;
    ForEachStep(
        plan_.loops, 0, shape_.left, shape_.right, shape_.output,
        [&](int64_t left_at, int64_t right_at, int64_t result_at) {
          if (status != dnnl_success) return;
          const char* const l = static_cast<const char*>(left) + left_at * kElement;
          const char* const r = static_cast<const char*>(right) + right_at * kElement;
          char* const y = static_cast<char*>(result) + result_at * ByteSize(shape_.result_type);
          const dnnl_exec_arg_t arguments[] = {{DNNL_ARG_SRC, a_.At(plan_.swapped ? r : l)},
                                               {DNNL_ARG_WEIGHTS, b_.At(plan_.swapped ? l : r)},
                                               {DNNL_ARG_DST, c_.At(y)},
                                               {DNNL_ARG_SCRATCHPAD, scratchpad_.At(workspace)}};
          status = library_.primitive_execute(product_.get(), stream_, 4, arguments);
        });
    if (status == dnnl_success) status = library_.stream_wait(stream_);
    if (status != dnnl_success) return OneDnnError("a matrix product", status);
    return absl::OkStatus();
  }

 private:
  absl::Status Describe(int64_t rows, int64_t columns, int64_t batch_step,
                        const MatrixLayout& layout, dnnl_data_type_t type,
                        dnnl_memory_desc_t* desc) const {
    DnnlDimensions dimensions;
    dimensions.Add(batch_.extent, batch_step);
    dimensions.Add(rows, layout.row_step);
    dimensions.Add(columns, layout.column_step);
    dnnl_memory_desc_t any;
    return dimensions.Describe(library_, desc, &any, type);
  }

  const OneDnn& library_;
  const LibraryShape shape_;
  ProductPlan plan_;
  StridedIndex batch_;  // of extent 1 where there is none
  DnnlPrimitive product_;
  DnnlMemory a_, b_, c_, scratchpad_;
  dnnl_stream_t stream_ = nullptr;
};

}  // namespace

absl::StatusOr<std::unique_ptr<LibraryKernel>> MakeBF16Contraction(const OneDnn& library,
                                                                   const LibraryShape& shape) {
  auto contraction = std::make_unique<BF16Contraction>(library, shape);
  YUBA_ASSIGN_OR_RETURN(const bool possible, contraction->Prepare());
  if (!possible) return std::unique_ptr<LibraryKernel>();
  return std::unique_ptr<LibraryKernel>(std::move(contraction));
}

}  // namespace yuba::runtime
