// Convolutions and their gradients through oneDNN: plain strided tensors, reordered to the
// library's own formats where it prefers those; a filter that does not change between runs is
// reordered once.
#include <algorithm>
#include <array>

#include "opsemantics/base/check.h"
#include "opsemantics/base/status.h"
#include "runtime/convolution_geometry.h"
#include "runtime/host/mapped_memory.h"
#include "runtime/host/onednn.h"
#include "runtime/host/onednn_objects.h"

namespace yuba::runtime {
namespace {

// The tensors of a convolution, in the order in which the library's functions take them.
enum { kInput, kFilter, kOutput, kTensors };
using Formats = std::array<dnnl_memory_desc_t, kTensors>;

// What the library calls the three tensors.
struct Routine {
  std::array<dnnl_query_t, kTensors> formats;  // to ask for the format of each
  std::array<int, kTensors> arguments;
};

Routine RoutineOf(program::LibraryCall::Kind kind) {
  switch (kind) {
    case program::LibraryCall::DATA_GRADIENT:
      return {{dnnl_query_diff_src_md, dnnl_query_weights_md, dnnl_query_diff_dst_md},
              {DNNL_ARG_DIFF_SRC, DNNL_ARG_WEIGHTS, DNNL_ARG_DIFF_DST}};
    case program::LibraryCall::WEIGHT_GRADIENT:
      return {{dnnl_query_src_md, dnnl_query_diff_weights_md, dnnl_query_diff_dst_md},
              {DNNL_ARG_SRC, DNNL_ARG_DIFF_WEIGHTS, DNNL_ARG_DIFF_DST}};
    default:
      return {{dnnl_query_src_md, dnnl_query_weights_md, dnnl_query_dst_md},
              {DNNL_ARG_SRC, DNNL_ARG_WEIGHTS, DNNL_ARG_DST}};
  }
}

class Convolution : public LibraryKernel {
 public:
  Convolution(const OneDnn& library, program::LibraryCall::Kind kind, const LibraryShape& shape,
              ConvolutionGeometry geometry)
      : library_(library),
        kind_(kind),
        routine_(RoutineOf(kind)),
        shape_(shape),
        geometry_(std::move(geometry)),
        primitive_(library),
        tensors_{DnnlTensor(library), DnnlTensor(library), DnnlTensor(library)},
        scratchpad_(library) {
    const ConvolutionTensors tensors = TensorsOf(kind);
    places_ = {tensors.input, tensors.filter, tensors.output};
  }

  ~Convolution() override {
    if (stream_ != nullptr) library_.stream_destroy(stream_);
  }

  // With `keep_right` a filter on the right is kept in the library's format, if one call uses all
  // of it.
  absl::Status Prepare(bool keep_right) {
    if (geometry_.no_terms) return absl::OkStatus();
    Formats plain, any;
    YUBA_RETURN_IF_ERROR(Describe(plain, any));
    dnnl_convolution_desc_t desc;
    YUBA_RETURN_IF_ERROR(DescribeConvolution(any, &desc));
    YUBA_RETURN_IF_ERROR(primitive_.Convolution(desc));
    for (int t = 0; t < kTensors; ++t) {
      const bool result = places_[t] == LibraryTensor::kResult;
      const auto role = !result                  ? DnnlTensor::kOperand
                        : geometry_.sums.empty() ? DnnlTensor::kResult
                                                 : DnnlTensor::kSum;
      const dnnl_memory_desc_t& inner = primitive_.Query(routine_.formats[t], 0);
      YUBA_RETURN_IF_ERROR(tensors_[t].Prepare(library_, plain[t], inner, role));
    }
    DnnlTensor& filter = tensors_[kFilter];
    if (keep_right && places_[kFilter] == LibraryTensor::kRight && filter.reordered &&
        geometry_.loops.empty() && geometry_.sums.empty()) {
      kept_bytes_ = filter.bytes;
      filter.bytes = 0;  // none in the workspace
      YUBA_RETURN_IF_ERROR(kept_.Map(kept_bytes_));
    }
    return PrepareWorkspace();
  }

  int64_t workspace_bytes() const override { return workspace_bytes_; }
  int64_t kept_bytes() const override { return kept_bytes_; }
  void ForgetKept() override { is_kept_ = false; }

  absl::Status Run(const void* left_buffer, const void* right_buffer, void* result_buffer,
                   char* workspace) override {
    const float* const left = static_cast<const float*>(left_buffer);
    const float* const right = static_cast<const float*>(right_buffer);
    float* const result = static_cast<float*>(result_buffer);
    if (geometry_.no_terms || geometry_.has_gaps) Clear(result);
    if (geometry_.no_terms) return absl::OkStatus();
    workspace_ = workspace;
    status_ = dnnl_success;
    ForEachStep(geometry_.loops, 0, geometry_.left, geometry_.right, geometry_.output,
                [&](int64_t left_at, int64_t right_at, int64_t result_at) {
                  bool first = true;
                  ForEachStep(geometry_.sums, 0, left_at, right_at, 0,
                              [&](int64_t l, int64_t r, int64_t) {
                                Convolve(left + l, right + r, result + result_at, first);
                                first = false;
                              });
                });
    if (status_ == dnnl_success) status_ = library_.stream_wait(stream_);
    if (status_ != dnnl_success) return OneDnnError("a convolution", status_);
    return absl::OkStatus();
  }

 private:
  void Clear(float* result) const {
    ForEachRun(shape_.result, [&](const std::vector<int64_t>& offsets, int64_t length) {
      const int64_t stride = shape_.result.buffers[0].strides.back();
      for (int64_t i = 0; i < length; ++i) result[offsets[0] + i * stride] = 0;
    });
  }

  absl::Status Describe(Formats& plain, Formats& any) const {
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

  absl::Status DescribeConvolution(const Formats& formats, dnnl_convolution_desc_t* desc) const {
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
            desc, dnnl_convolution_direct, &input, &filter, &output, strides, dilations, left,
            right);
        break;
      case program::LibraryCall::WEIGHT_GRADIENT:
        status = library_.dilated_convolution_backward_weights_desc_init(
            desc, dnnl_convolution_direct, &input, &filter, nullptr, &output, strides, dilations,
            left, right);
        break;
      default:
        status = library_.dilated_convolution_forward_desc_init(
            desc, dnnl_forward_inference, dnnl_convolution_direct, &input, &filter, nullptr,
            &output, strides, dilations, left, right);
    }
    return status == dnnl_success ? absl::OkStatus()
                                  : OneDnnError("describing a convolution", status);
  }

  absl::Status PrepareWorkspace() {
    int64_t scratchpad = primitive_.scratchpad();
    for (DnnlTensor& tensor : tensors_) {
      tensor.offset = workspace_bytes_;
      workspace_bytes_ += tensor.bytes;
      scratchpad = std::max(scratchpad, tensor.scratchpad());
    }
    scratchpad_offset_ = workspace_bytes_;
    workspace_bytes_ += DnnlAligned(scratchpad);
    const dnnl_dim_t extent = std::max<int64_t>(scratchpad, 1);
    dnnl_memory_desc_t desc;
    dnnl_status_t status = library_.memory_desc_init_by_tag(&desc, 1, &extent, dnnl_u8, dnnl_a);
    if (status == dnnl_success) {
      status = library_.stream_create(&stream_, library_.engine, dnnl_stream_default_flags);
    }
    if (status != dnnl_success) return OneDnnError("preparing a workspace", status);
    return scratchpad_.Create(desc);
  }

  char* At(const DnnlTensor& tensor) const { return workspace_ + tensor.offset; }

  void Execute(dnnl_primitive_t primitive, std::vector<dnnl_exec_arg_t> arguments) {
    if (status_ != dnnl_success) return;
    arguments.push_back({DNNL_ARG_SCRATCHPAD, scratchpad_.At(workspace_ + scratchpad_offset_)});
    status_ = library_.primitive_execute(primitive, stream_, static_cast<int>(arguments.size()),
                                         arguments.data());
  }

  void Copy(const DnnlPrimitive& reorder, dnnl_memory_t from, dnnl_memory_t to) {
    Execute(reorder.get(), {{DNNL_ARG_FROM, from}, {DNNL_ARG_TO, to}});
  }

  // The operand in the format that the primitive wants.
  dnnl_memory_t Bring(int tensor, const float* data) {
    DnnlTensor& operand = tensors_[tensor];
    if (!operand.reordered) return operand.inner.At(data);
    const bool kept = tensor == kFilter && kept_bytes_ > 0;
    dnnl_memory_t inner = operand.inner.At(kept ? kept_.data() : At(operand));
    if (!kept || !is_kept_) Copy(operand.reorder, operand.plain.At(data), inner);
    if (kept) is_kept_ = status_ == dnnl_success;
    return inner;
  }

  void Convolve(const float* left, const float* right, float* result, bool first) {
    std::vector<dnnl_exec_arg_t> arguments;
    const DnnlTensor* written = nullptr;
    dnnl_memory_t computed = nullptr;
    for (int t = 0; t < kTensors; ++t) {
      dnnl_memory_t memory = nullptr;
      if (places_[t] == LibraryTensor::kResult) {
        written = &tensors_[t];
        computed = memory =
            written->inner.At(written->reordered ? static_cast<void*>(At(*written)) : result);
      } else {
        memory = Bring(t, places_[t] == LibraryTensor::kLeft ? left : right);
      }
      arguments.push_back({routine_.arguments[t], memory});
    }
    Execute(primitive_.get(), std::move(arguments));
    if (!written->reordered) return;
    Copy(first ? written->reorder : written->add, computed, written->plain.At(result));
  }

  const OneDnn& library_;
  const program::LibraryCall::Kind kind_;
  const Routine routine_;
  std::array<LibraryTensor, kTensors> places_;  // which tensors of the call they are
  const LibraryShape shape_;
  const ConvolutionGeometry geometry_;
  DnnlPrimitive primitive_;
  DnnlTensor tensors_[kTensors];
  DnnlMemory scratchpad_;
  dnnl_stream_t stream_ = nullptr;
  int64_t scratchpad_offset_ = 0, workspace_bytes_ = 0;
  MappedMemory kept_;  // the filter in the library's format
  int64_t kept_bytes_ = 0;
  bool is_kept_ = false;       // `kept_` holds what the filter's buffer holds
  char* workspace_ = nullptr;  // of the run in progress
  dnnl_status_t status_ = dnnl_success;
};

}  // namespace

absl::StatusOr<std::unique_ptr<LibraryKernel>> MakeConvolution(const OneDnn& library,
                                                               const LoadedProgram& program,
                                                               const program::Kernel& kernel,
                                                               int device, bool keep_right) {
  const LibraryShape shape = ShapeOf(program, kernel, device);
  YUBA_CHECK(!shape.no_result && !shape.no_terms);
  auto convolution = std::make_unique<Convolution>(
      library, program.message().functions(kernel.function()).library().kind(), shape,
      GeometryOf(program, kernel, shape, device, FilterGroups::kOwnDimension));
  YUBA_RETURN_IF_ERROR(convolution->Prepare(keep_right));
  return std::unique_ptr<LibraryKernel>(std::move(convolution));
}

}  // namespace yuba::runtime
