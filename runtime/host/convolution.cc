// Convolutions through oneDNN: plain strided tensors, reordered to the library's own formats where
// it prefers those; a filter that does not change between runs is reordered once.
#include <algorithm>

#include "opsemantics/base/check.h"
#include "opsemantics/base/status.h"
#include "runtime/host/convolution_geometry.h"
#include "runtime/host/mapped_memory.h"
#include "runtime/host/onednn.h"
#include "runtime/host/onednn_objects.h"

namespace yuba::runtime {
namespace {

class Convolution : public LibraryKernel {
 public:
  Convolution(const OneDnn& library, const LibraryShape& shape, ConvolutionGeometry geometry)
      : library_(library),
        shape_(shape),
        geometry_(std::move(geometry)),
        first_(library),
        next_(library),
        left_(library),
        right_(library),
        result_(library),
        scratchpad_(library) {}

  ~Convolution() override {
    if (stream_ != nullptr) library_.stream_destroy(stream_);
  }

  // With `keep_filter` the filter in the library's format is kept, if one call uses all of it.
  absl::Status Prepare(bool keep_filter) {
    if (geometry_.only_padding) return absl::OkStatus();
    dnnl_memory_desc_t plain[3], any[3];
    YUBA_RETURN_IF_ERROR(Describe(plain, any));
    dnnl_convolution_desc_t desc;
    YUBA_RETURN_IF_ERROR(DescribeConvolution(any, &desc));
    YUBA_RETURN_IF_ERROR(first_.Convolution(desc, false));
    const dnnl_memory_desc_t inner[3] = {first_.Query(dnnl_query_src_md, 0),
                                         first_.Query(dnnl_query_weights_md, 0),
                                         first_.Query(dnnl_query_dst_md, 0)};
    YUBA_RETURN_IF_ERROR(left_.Prepare(library_, plain[0], inner[0], false));
    YUBA_RETURN_IF_ERROR(right_.Prepare(library_, plain[1], inner[1], false));
    YUBA_RETURN_IF_ERROR(result_.Prepare(library_, plain[2], inner[2], true));
    if (!geometry_.sums.empty()) {
      YUBA_RETURN_IF_ERROR(DescribeConvolution(inner, &desc));
      YUBA_RETURN_IF_ERROR(next_.Convolution(desc, true));
    }
    if (keep_filter && right_.reordered && geometry_.loops.empty() && geometry_.sums.empty()) {
      kept_bytes_ = right_.bytes;
      right_.bytes = 0;  // none in the workspace
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
    if (geometry_.only_padding) {
      ForEachRun(shape_.result, [&](const std::vector<int64_t>& offsets, int64_t length) {
        const int64_t stride = shape_.result.buffers[0].strides.back();
        for (int64_t i = 0; i < length; ++i) result[offsets[0] + i * stride] = 0;
      });
      return absl::OkStatus();
    }
    workspace_ = workspace;
    status_ = dnnl_success;
    ForEachStep(geometry_.loops, 0, geometry_.left, geometry_.right, geometry_.output,
                [&](int64_t left_at, int64_t right_at, int64_t result_at) {
                  float* const to = result + result_at;
                  bool first = true;
                  ForEachStep(geometry_.sums, 0, left_at, right_at, 0,
                              [&](int64_t l, int64_t r, int64_t) {
                                Convolve(left + l, right + r, to, first);
                                first = false;
                              });
                  if (result_.reordered)
                    Reorder(result_, result_.inner.At(At(result_)), result_.plain.At(to));
                });
    if (status_ == dnnl_success) status_ = library_.stream_wait(stream_);
    if (status_ != dnnl_success) return OneDnnError("a convolution", status_);
    return absl::OkStatus();
  }

 private:
  absl::Status Describe(dnnl_memory_desc_t* plain, dnnl_memory_desc_t* any) const {
    const ConvolutionGeometry& g = geometry_;
    DnnlDimensions left, right, result;
    const bool grouped = g.group.extent > 1;
    // With one channel in each group the groups themselves are the channels.
    const int64_t left_step = g.inner.extent > 1 ? g.inner.left : g.group.left;
    const int64_t result_step = g.channel.extent > 1 ? g.channel.result : g.group.result;
    left.Add(g.batch.extent, g.batch.left);
    left.Add(g.group.extent * g.inner.extent, left_step);
    if (grouped) right.Add(g.group.extent, g.group.right);
    right.Add(g.channel.extent, g.channel.right);
    right.Add(g.inner.extent, g.inner.right);
    result.Add(g.batch.extent, g.batch.result);
    result.Add(g.group.extent * g.channel.extent, result_step);
    for (const LocalWindow& window : g.windows) {
      left.Add(window.input, window.input_step);
      right.Add(window.taps, window.tap_step);
      result.Add(window.outputs, window.output_step);
    }
    YUBA_RETURN_IF_ERROR(left.Describe(library_, &plain[0], &any[0]));
    YUBA_RETURN_IF_ERROR(right.Describe(library_, &plain[1], &any[1]));
    return result.Describe(library_, &plain[2], &any[2]);
  }

  absl::Status DescribeConvolution(const dnnl_memory_desc_t* tensors,
                                   dnnl_convolution_desc_t* desc) const {
    dnnl_dims_t strides, dilations, left, right;
    for (size_t w = 0; w < geometry_.windows.size(); ++w) {
      strides[w] = geometry_.windows[w].stride;
      dilations[w] = geometry_.windows[w].dilation - 1;
      left[w] = geometry_.windows[w].pad_left;
      right[w] = geometry_.windows[w].pad_right;
    }
    const dnnl_status_t status = library_.dilated_convolution_forward_desc_init(
        desc, dnnl_forward_inference, dnnl_convolution_direct, &tensors[0], &tensors[1], nullptr,
        &tensors[2], strides, dilations, left, right);
    return status == dnnl_success ? absl::OkStatus()
                                  : OneDnnError("describing a convolution", status);
  }

  absl::Status PrepareWorkspace() {
    for (DnnlTensor* tensor : {&left_, &right_, &result_}) {
      tensor->offset = workspace_bytes_;
      workspace_bytes_ += tensor->bytes;
    }
    scratchpad_offset_ = workspace_bytes_;
    int64_t scratchpad = first_.scratchpad();
    if (!geometry_.sums.empty()) scratchpad = std::max(scratchpad, next_.scratchpad());
    for (DnnlTensor* tensor : {&left_, &right_, &result_}) {
      if (tensor->reordered) scratchpad = std::max(scratchpad, tensor->reorder.scratchpad());
    }
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

  void Reorder(const DnnlTensor& tensor, dnnl_memory_t from, dnnl_memory_t to) {
    Execute(tensor.reorder.get(), {{DNNL_ARG_FROM, from}, {DNNL_ARG_TO, to}});
  }

  dnnl_memory_t Bring(const DnnlTensor& tensor, const float* data) {
    if (!tensor.reordered) return tensor.inner.At(data);
    dnnl_memory_t inner = tensor.inner.At(At(tensor));
    Reorder(tensor, tensor.plain.At(data), inner);
    return inner;
  }

  dnnl_memory_t BringFilter(const float* data) {
    if (kept_bytes_ == 0) return Bring(right_, data);
    dnnl_memory_t inner = right_.inner.At(kept_.data());
    if (!is_kept_) Reorder(right_, right_.plain.At(data), inner);
    is_kept_ = status_ == dnnl_success;
    return inner;
  }

  void Convolve(const float* left, const float* right, float* result, bool first) {
    dnnl_memory_t input = Bring(left_, left);
    dnnl_memory_t filter = BringFilter(right);
    dnnl_memory_t output =
        result_.inner.At(result_.reordered ? static_cast<void*>(At(result_)) : result);
    Execute(first ? first_.get() : next_.get(),
            {{DNNL_ARG_SRC, input}, {DNNL_ARG_WEIGHTS, filter}, {DNNL_ARG_DST, output}});
  }

  const OneDnn& library_;
  const LibraryShape shape_;
  const ConvolutionGeometry geometry_;
  DnnlPrimitive first_, next_;  // writes the result; adds to it
  DnnlTensor left_, right_, result_;
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
                                                               int device, bool keep_filter) {
  const LibraryShape shape = ShapeOf(program, kernel, device);
  YUBA_CHECK(!shape.no_result && !shape.no_terms);
  auto convolution =
      std::make_unique<Convolution>(library, shape, GeometryOf(program, kernel, shape, device));
  YUBA_RETURN_IF_ERROR(convolution->Prepare(keep_filter));
  return std::unique_ptr<LibraryKernel>(std::move(convolution));
}

}  // namespace yuba::runtime
