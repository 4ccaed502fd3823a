#include "runtime/host/onednn_objects.h"

#include <algorithm>

#include "absl/strings/match.h"
#include "opsemantics/base/status.h"

namespace yuba::runtime {

int64_t DnnlAligned(int64_t bytes) {
  constexpr int64_t alignment = 64;
  return (bytes + alignment - 1) / alignment * alignment;
}

void DnnlDimensions::Add(int64_t extent, int64_t stride) {
  extents.push_back(extent);
  strides.push_back(stride);
}

absl::Status DnnlDimensions::Describe(const OneDnn& library, dnnl_memory_desc_t* plain,
                                      dnnl_memory_desc_t* any, dnnl_data_type_t type) const {
  int64_t span = 1;
  for (size_t d = 0; d < extents.size(); ++d) span = std::max(span, extents[d] * strides[d]);
  std::vector<int64_t> steps = strides;
  for (size_t d = 0; d < extents.size(); ++d) {
    if (extents[d] == 1) steps[d] = span;  // any stride will do, but the library compares them
  }
  const int rank = static_cast<int>(extents.size());
  dnnl_status_t status =
      library.memory_desc_init_by_strides(plain, rank, extents.data(), type, steps.data());
  if (status != dnnl_success) return OneDnnError("describing a strided tensor", status);
  status = library.memory_desc_init_by_tag(any, rank, extents.data(), type, dnnl_format_tag_any);
  if (status != dnnl_success) return OneDnnError("describing a tensor", status);
  return absl::OkStatus();
}

DnnlPrimitive::~DnnlPrimitive() {
  if (primitive_ != nullptr) library_.primitive_destroy(primitive_);
  if (desc_ != nullptr) library_.primitive_desc_destroy(desc_);
}

absl::StatusOr<bool> DnnlPrimitive::Convolution(const dnnl_convolution_desc_t& desc,
                                                const DnnlPostOps* after, bool fast) {
  return Make(&desc, after, "preparing a convolution", [&](absl::string_view routine) {
    return !fast || (!absl::StrContains(routine, "ref") && !absl::StrContains(routine, "gemm"));
  });
}

absl::StatusOr<bool> DnnlPrimitive::Product(const dnnl_matmul_desc_t& desc,
                                            const DnnlPostOps* after, bool brgemm) {
  return Make(&desc, after, "preparing a matrix product", [&](absl::string_view routine) {
    return brgemm ? absl::StartsWith(routine, "brg") : !absl::StrContains(routine, "ref");
  });
}

absl::StatusOr<bool> DnnlPrimitive::Make(const_dnnl_op_desc_t desc, const DnnlPostOps* after,
                                         const char* tried,
                                         const std::function<bool(absl::string_view)>& is_fast) {
  if (after != nullptr && !after->ComputesRightly()) return false;
  dnnl_primitive_attr_t attributes = nullptr;
  dnnl_status_t status = Attributes(&attributes, after == nullptr ? nullptr : after->get());
  if (status == dnnl_success) {
    status = library_.primitive_desc_create(&desc_, desc, attributes, library_.engine, nullptr);
  }
  const char* routine = "";
  if (status == dnnl_success) {
    status = library_.primitive_desc_query(desc_, dnnl_query_impl_info_str, 0, &routine);
  }
  const bool missing =
      status == dnnl_unimplemented || (status == dnnl_success && !is_fast(routine));
  if (missing && attributes != nullptr) library_.primitive_attr_destroy(attributes);
  if (missing) return false;
  YUBA_RETURN_IF_ERROR(Finish(tried, status, attributes));
  return true;
}

absl::Status DnnlPrimitive::Reorder(const dnnl_memory_desc_t& from, const dnnl_memory_desc_t& to,
                                    bool accumulate) {
  dnnl_primitive_attr_t attributes = nullptr;
  dnnl_post_ops_t after = nullptr;
  dnnl_status_t status = dnnl_success;
  if (accumulate) {
    status = library_.post_ops_create(&after);
    if (status == dnnl_success) status = library_.post_ops_append_sum(after, 1.0f);
  }
  if (status == dnnl_success) status = Attributes(&attributes, after);
  if (status == dnnl_success) {
    status = library_.reorder_primitive_desc_create(&desc_, &from, library_.engine, &to,
                                                    library_.engine, attributes);
  }
  if (after != nullptr) library_.post_ops_destroy(after);
  return Finish("preparing a reorder", status, attributes);
}

const dnnl_memory_desc_t& DnnlPrimitive::Query(dnnl_query_t what, int index) const {
  return *library_.primitive_desc_query_md(desc_, what, index);
}

int64_t DnnlPrimitive::scratchpad() const {
  if (desc_ == nullptr) return 0;
  const dnnl_memory_desc_t* desc =
      library_.primitive_desc_query_md(desc_, dnnl_query_scratchpad_md, 0);
  return desc == nullptr ? 0 : static_cast<int64_t>(library_.memory_desc_get_size(desc));
}

dnnl_status_t DnnlPrimitive::Attributes(dnnl_primitive_attr_t* attributes, dnnl_post_ops_t after) {
  dnnl_status_t status = library_.primitive_attr_create(attributes);
  if (status == dnnl_success && after != nullptr) {
    status = library_.primitive_attr_set_post_ops(*attributes, after);
  }
  if (status != dnnl_success) return status;
  return library_.primitive_attr_set_scratchpad_mode(*attributes, dnnl_scratchpad_mode_user);
}

absl::Status DnnlPrimitive::Finish(const char* tried, dnnl_status_t status,
                                   dnnl_primitive_attr_t attributes) {
  if (attributes != nullptr) library_.primitive_attr_destroy(attributes);
  if (status == dnnl_success) status = library_.primitive_create(&primitive_, desc_);
  return status == dnnl_success ? absl::OkStatus() : OneDnnError(tried, status);
}

DnnlMemory::~DnnlMemory() {
  if (memory_ != nullptr) library_.memory_destroy(memory_);
}

absl::Status DnnlMemory::Create(const dnnl_memory_desc_t& desc) {
  const dnnl_status_t status =
      library_.memory_create(&memory_, &desc, library_.engine, DNNL_MEMORY_NONE);
  return status == dnnl_success ? absl::OkStatus() : OneDnnError("creating a memory", status);
}

dnnl_memory_t DnnlMemory::At(const void* data) const {
  library_.memory_set_data_handle(memory_, const_cast<void*>(data));
  return memory_;
}

DnnlPostOps::~DnnlPostOps() {
  if (steps_ != nullptr) library_.post_ops_destroy(steps_);
}

absl::Status DnnlPostOps::Add(const PostOpShape& step,
                              const absl::optional<dnnl_memory_desc_t>& operand) {
  dnnl_status_t status = dnnl_success;
  if (steps_ == nullptr) status = library_.post_ops_create(&steps_);
  if (status != dnnl_success) return OneDnnError("describing post-ops", status);
  const auto binary = [&](dnnl_alg_kind_t kind) {
    return library_.post_ops_append_binary(steps_, kind, &*operand);
  };
  const auto eltwise = [&](dnnl_alg_kind_t kind, float alpha) {
    return library_.post_ops_append_eltwise(steps_, 1.0f, kind, alpha, 0.0f);
  };
  switch (step.kind) {
    case program::PostOp::ADD: status = binary(dnnl_binary_add); break;
    case program::PostOp::SUBTRACT: status = binary(dnnl_binary_sub); break;
    case program::PostOp::MULTIPLY: status = binary(dnnl_binary_mul); break;
    case program::PostOp::SCALE:
      status = eltwise(dnnl_eltwise_linear, static_cast<float>(step.factor));
      ++scales_;
      break;
    case program::PostOp::RELU: status = eltwise(dnnl_eltwise_relu, 0); break;
    case program::PostOp::GELU_TANH: status = eltwise(dnnl_eltwise_gelu_tanh, 0); break;
    case program::PostOp::GELU_ERF: status = eltwise(dnnl_eltwise_gelu_erf, 0); break;
    default: status = dnnl_unimplemented;
  }
  if (status != dnnl_success) return OneDnnError("describing a post-op", status);
  if (operand.has_value()) {
    arguments_.push_back(DNNL_ARG_ATTR_MULTIPLE_POST_OP(count_) | DNNL_ARG_SRC_1);
    operands_.push_back(std::make_unique<DnnlMemory>(library_));
    if (operand->format_kind != dnnl_format_kind_any)
      YUBA_RETURN_IF_ERROR(operands_.back()->Create(*operand));
  }
  ++count_;
  return absl::OkStatus();
}

dnnl_exec_arg_t DnnlPostOps::Argument(size_t number, const void* data) const {
  return {arguments_[number], operands_[number]->At(data)};
}

absl::Status DnnlTensor::Prepare(const OneDnn& library, const dnnl_memory_desc_t& plain_desc,
                                 const dnnl_memory_desc_t& inner_desc, Role role) {
  YUBA_RETURN_IF_ERROR(plain.Create(plain_desc));
  YUBA_RETURN_IF_ERROR(inner.Create(inner_desc));
  reordered = role == kSum || library.memory_desc_equal(&plain_desc, &inner_desc) == 0;
  if (!reordered) return absl::OkStatus();
  bytes = DnnlAligned(static_cast<int64_t>(library.memory_desc_get_size(&inner_desc)));
  if (role == kOperand) return reorder.Reorder(plain_desc, inner_desc);
  if (role == kSum) YUBA_RETURN_IF_ERROR(add.Reorder(inner_desc, plain_desc, true));
  return reorder.Reorder(inner_desc, plain_desc);
}

absl::Status DnnlTensor::Keep() {
  kept_bytes = bytes;
  bytes = 0;
  return kept.Map(kept_bytes);
}

int64_t DnnlTensor::scratchpad() const { return std::max(reorder.scratchpad(), add.scratchpad()); }

}  // namespace yuba::runtime
