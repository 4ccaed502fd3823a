#include "runtime/host/convolution_post_ops.h"

#include "opsemantics/base/status.h"

namespace yuba::runtime {

absl::StatusOr<bool> ConvolutionPostOps::Describe(const LibraryShape& shape,
                                                  const ConvolutionGeometry& geometry,
                                                  const dnnl_memory_desc_t& plain,
                                                  const dnnl_memory_desc_t& any) {
  const int64_t channels = geometry.group.extent * geometry.channel.extent;
  size_t in_steps = 0;     // operands of post-ops so far
  bool adds_alone = true;  // all steps so far add or subtract
  for (const PostOpShape& step : shape.post_ops) {
    adds_alone &= step.kind == program::PostOp::ADD || step.kind == program::PostOp::SUBTRACT;
    if (step.number < 0) {
      YUBA_RETURN_IF_ERROR(steps_.Add(step, absl::nullopt));
      continue;
    }
    Operand& operand = *operands_.emplace_back(std::make_unique<Operand>(library_));
    operand.plain = plain;
    YUBA_ASSIGN_OR_RETURN(const bool known, DescribeOperand(shape, geometry, step.number, operand));
    if (!known) return false;
    const bool each_channel = !operand.like_output && operand.plain.dims[1] == channels;
    if (adds_alone && step.kind == program::PostOp::ADD && each_channel && !bias_.has_value()) {
      DnnlDimensions row;
      row.Add(channels, 1);
      dnnl_memory_desc_t unused;
      YUBA_RETURN_IF_ERROR(row.Describe(library_, &bias_.emplace(), &unused));
      operand.plain = *bias_;
      operand.argument = DNNL_ARG_BIAS;
      continue;
    }
    YUBA_RETURN_IF_ERROR(steps_.Add(step, operand.like_output ? any : operand.plain));
    operand.argument = steps_.ArgumentOf(in_steps++);
  }
  return true;
}

absl::StatusOr<bool> ConvolutionPostOps::DescribeOperand(const LibraryShape& shape,
                                                         const ConvolutionGeometry& geometry,
                                                         int number, Operand& operand) const {
  const std::vector<WalkedBuffer>& buffers = shape.post_op_walk.buffers;
  const std::vector<int64_t>&result = buffers[0].strides, &steps = buffers[1 + number].strides;
  operand.like_output = true;
  bool channels = true;  // it has no other dimension
  for (size_t d = 0; d < steps.size(); ++d) {
    const bool moves = shape.post_op_walk.extents[d] > 1;
    operand.like_output &= !moves || steps[d] == result[d];
  }
  if (operand.like_output) return true;
  const StridedIndex& outputs = geometry.channel.extent > 1 ? geometry.channel : geometry.group;
  const auto post = [&](const StridedIndex& index) {
    return index.post.empty() ? 0 : index.post[number];
  };
  const int64_t step = post(outputs), count = geometry.group.extent * geometry.channel.extent;
  const bool both = geometry.group.extent > 1 && geometry.channel.extent > 1;
  if (both) channels = post(geometry.group) == geometry.channel.extent * step;
  int64_t elements = 1;  // that the operand has, as far as it moves
  for (size_t d = 0; d < steps.size(); ++d) {
    if (steps[d] != 0) elements *= shape.post_op_walk.extents[d];
  }
  if (!channels || step > 1 || elements != (step == 0 ? 1 : count)) return false;
  DnnlDimensions dimensions;
  for (int d = 0; d < operand.plain.ndims; ++d) {
    const bool runs = d == 1 && step != 0;
    dimensions.Add(runs ? count : 1, runs ? step : 0);
  }
  dnnl_memory_desc_t any;
  YUBA_RETURN_IF_ERROR(dimensions.Describe(library_, &operand.plain, &any));
  return true;
}

absl::Status ConvolutionPostOps::Prepare(const dnnl_memory_desc_t& output) {
  for (const auto& operand : operands_) {
    YUBA_RETURN_IF_ERROR(operand->tensor.Prepare(library_, operand->plain,
                                                 operand->like_output ? output : operand->plain,
                                                 DnnlTensor::kOperand));
  }
  return absl::OkStatus();
}

}  // namespace yuba::runtime
