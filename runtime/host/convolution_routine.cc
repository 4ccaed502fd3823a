#include "runtime/host/convolution_routine.h"

#include "opsemantics/base/status.h"

namespace yuba::runtime {

ConvolutionRoutine::ConvolutionRoutine(const OneDnn& library, program::LibraryCall::Kind kind,
                                       const ConvolutionTensors& tensors,
                                       const ConvolutionGeometry& geometry)
    : library_(library),
      kind_(kind),
      places_{tensors.input, tensors.filter, tensors.output},
      geometry_(geometry) {}

absl::Status ConvolutionRoutine::Describe(ConvolutionFormats& plain,
                                          ConvolutionFormats& any) const {
  const ConvolutionGeometry& g = geometry_;
  const auto step = [&](const StridedIndex& index, int tensor) {
    return StepIn(index, places_[tensor]);
  };
  // With one channel in each group the groups themselves are the channels.
  const StridedIndex& inputs = g.inner.extent > 1 ? g.inner : g.group;
  const StridedIndex& outputs = g.channel.extent > 1 ? g.channel : g.group;
  std::array<DnnlDimensions, kTensors> dims;
  dims[kInput].Add(g.batch.extent, step(g.batch, kInput));
  dims[kInput].Add(g.group.extent * g.inner.extent, step(inputs, kInput));
  if (g.group.extent > 1) dims[kFilter].Add(g.group.extent, step(g.group, kFilter));
  dims[kFilter].Add(g.channel.extent, step(g.channel, kFilter));
  dims[kFilter].Add(g.inner.extent, step(g.inner, kFilter));
  dims[kOutput].Add(g.batch.extent, step(g.batch, kOutput));
  dims[kOutput].Add(g.group.extent * g.channel.extent, step(outputs, kOutput));
  for (const LocalWindow& window : g.windows) {
    dims[kInput].Add(window.input, window.input_step);
    dims[kFilter].Add(window.taps, window.tap_step);
    dims[kOutput].Add(window.outputs, window.output_step);
  }
  for (int t = 0; t < kTensors; ++t)
    YUBA_RETURN_IF_ERROR(dims[t].Describe(library_, &plain[t], &any[t]));
  return absl::OkStatus();
}

absl::optional<dnnl_memory_desc_t> ConvolutionRoutine::InBlocks(
    const dnnl_memory_desc_t& tensor) const {
  const std::array<dnnl_format_tag_t, 3> tags = {dnnl_nCw16c, dnnl_nChw16c, dnnl_nCdhw16c};
  const int spatial = tensor.ndims - 2;
  if (spatial < 1 || spatial > 3 || tensor.dims[1] % 16 != 0) return absl::nullopt;
  dnnl_memory_desc_t format;
  const dnnl_status_t status = library_.memory_desc_init_by_tag(&format, tensor.ndims, tensor.dims,
                                                                dnnl_f32, tags[spatial - 1]);
  if (status != dnnl_success) return absl::nullopt;
  return format;
}

absl::StatusOr<std::unique_ptr<DnnlPrimitive>> ConvolutionRoutine::Make(
    const ConvolutionFormats& formats, const dnnl_memory_desc_t* bias, const DnnlPostOps* after,
    bool fast) const {
  dnnl_convolution_desc_t desc;
  YUBA_RETURN_IF_ERROR(DescribeCall(formats, bias, &desc));
  auto primitive = std::make_unique<DnnlPrimitive>(library_);
  YUBA_ASSIGN_OR_RETURN(const bool made, primitive->Convolution(desc, after, fast));
  if (!made) primitive = nullptr;
  return primitive;
}

const dnnl_memory_desc_t& ConvolutionRoutine::FormatOf(const DnnlPrimitive& primitive,
                                                       int tensor) const {
  const bool data = kind_ == program::LibraryCall::DATA_GRADIENT;
  const bool weights = kind_ == program::LibraryCall::WEIGHT_GRADIENT;
  const std::array<dnnl_query_t, kTensors> names = {
      data ? dnnl_query_diff_src_md : dnnl_query_src_md,
      weights ? dnnl_query_diff_weights_md : dnnl_query_weights_md,
      data || weights ? dnnl_query_diff_dst_md : dnnl_query_dst_md};
  return primitive.Query(names[tensor], 0);
}

int ConvolutionRoutine::ArgumentOf(int tensor) const {
  const bool data = kind_ == program::LibraryCall::DATA_GRADIENT;
  const bool weights = kind_ == program::LibraryCall::WEIGHT_GRADIENT;
  const std::array<int, kTensors> names = {data ? DNNL_ARG_DIFF_SRC : DNNL_ARG_SRC,
                                           weights ? DNNL_ARG_DIFF_WEIGHTS : DNNL_ARG_WEIGHTS,
                                           data || weights ? DNNL_ARG_DIFF_DST : DNNL_ARG_DST};
  return names[tensor];
}

absl::Status ConvolutionRoutine::DescribeCall(const ConvolutionFormats& formats,
                                              const dnnl_memory_desc_t* bias,
                                              dnnl_convolution_desc_t* desc) const {
  dnnl_dims_t strides, dilations, left, right;
  for (size_t w = 0; w < geometry_.windows.size(); ++w) {
    strides[w] = geometry_.windows[w].stride;
    dilations[w] = geometry_.windows[w].dilation - 1;
    left[w] = geometry_.windows[w].pad_left;
    right[w] = geometry_.windows[w].pad_right;
  }
  const auto &input = formats[kInput], &filter = formats[kFilter], &output = formats[kOutput];
  dnnl_status_t status = dnnl_success;
  switch (kind_) {
    case program::LibraryCall::DATA_GRADIENT:
      status = library_.dilated_convolution_backward_data_desc_init(
          desc, dnnl_convolution_direct, &input, &filter, &output, strides, dilations, left, right);
      break;
    case program::LibraryCall::WEIGHT_GRADIENT:
      status = library_.dilated_convolution_backward_weights_desc_init(
          desc, dnnl_convolution_direct, &input, &filter, nullptr, &output, strides, dilations,
          left, right);
      break;
    default:
      status = library_.dilated_convolution_forward_desc_init(
          desc, dnnl_forward_inference, dnnl_convolution_direct, &input, &filter, bias, &output,
          strides, dilations, left, right);
  }
  return status == dnnl_success ? absl::OkStatus()
                                : OneDnnError("describing a convolution", status);
}

}  // namespace yuba::runtime
