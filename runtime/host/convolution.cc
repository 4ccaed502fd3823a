#include "runtime/host/convolution.h"

#include <algorithm>
#include <array>
#include <memory>

#include "opsemantics/base/check.h"
#include "opsemantics/base/status.h"
#include "runtime/convolution_geometry.h"
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

// Which buffers a call uses.
struct CallBuffers {
  struct Buffer {
    int number = -1;
    int64_t elements = 0;  // that the device has of it
  };
  Buffer left, right, result;
  std::vector<Buffer> post;  // [operand of a post-op]
  int64_t result_bytes = 0;  // of the slot of the result
};

class Convolution : public ConvolutionKernel {
 public:
  Convolution(const OneDnn& library, program::LibraryCall::Kind kind,
              const ConvolutionTensors& tensors, const LibraryShape& shape,
              ConvolutionGeometry geometry, CallBuffers buffers)
      : library_(library),
        kind_(kind),
        routine_(RoutineOf(kind)),
        places_{tensors.input, tensors.filter, tensors.output},
        buffers_(std::move(buffers)),
        shape_(shape),
        geometry_(std::move(geometry)),
        post_ops_(library),
        tensors_{DnnlTensor(library), DnnlTensor(library), DnnlTensor(library)},
        scratchpad_(library) {}

  ~Convolution() override {
    if (stream_ != nullptr) library_.stream_destroy(stream_);
  }

  // Makes the primitive.
  absl::Status Make() {
    if (geometry_.no_terms) return absl::OkStatus();
    YUBA_RETURN_IF_ERROR(Describe(plain_, any_));
    return PreparePrimitive();
  }

  std::vector<Touch> Touches() const override {
    // What loops do after the call, they do to plain tensors.
    const bool one_call = kind_ == program::LibraryCall::CONVOLUTION && IsOneCall() &&
                          (shape_.post_ops.empty() || does_post_ops_);
    std::vector<Touch> touches;
    for (int t = 0; t < kTensors; ++t) {
      const CallBuffers::Buffer& buffer = BufferOf(places_[t]);
      Touch& touch = touches.emplace_back();
      touch.buffer = buffer.number;
      touch.plain = plain_[t];
      touch.writes = places_[t] == LibraryTensor::kResult;
      touch.whole = one_call && t != kFilter && OffsetOf(places_[t]) == 0 &&
                    Elements(plain_[t]) == buffer.elements;
    }
    for (size_t number = 0; number < buffers_.post.size(); ++number) {
      Touch& touch = touches.emplace_back();
      touch.buffer = buffers_.post[number].number;
      touch.plain = plain_[kOutput];
      touch.whole = one_call && post_operands_[number]->like_output &&
                    shape_.post_op_walk.buffers[1 + number].offset == 0 &&
                    Elements(touch.plain) == buffers_.post[number].elements;
    }
    return touches;
  }

  bool GainsBy(const BufferFormats& formats) const override {
    return formats.free[buffers_.result.number] ||
           formats.chosen.count(BufferOf(places_[kInput]).number) > 0;
  }

  bool FilterIsLeft() const override { return places_[kFilter] == LibraryTensor::kLeft; }

  absl::Status Prepare(bool keep_filter, BufferFormats& formats) override {
    if (geometry_.no_terms) return absl::OkStatus();
    for (int t = 0; t < kTensors; ++t) {
      const dnnl_memory_desc_t& inner = primitive_->Query(routine_.formats[t], 0);
      const bool result = places_[t] == LibraryTensor::kResult;
      const auto role = !result                  ? DnnlTensor::kOperand
                        : geometry_.sums.empty() ? DnnlTensor::kResult
                                                 : DnnlTensor::kSum;
      const int buffer = BufferOf(places_[t]).number;
      if (result) ChooseFormat(inner, formats);
      YUBA_RETURN_IF_ERROR(
          tensors_[t].Prepare(library_, FormatOf(buffer, plain_[t], formats), inner, role));
    }
    for (size_t number = 0; number < post_operands_.size(); ++number) {
      PostOperand& operand = *post_operands_[number];
      if (operand.like_output)
        operand.plain = FormatOf(buffers_.post[number].number, operand.plain, formats);
    }
    if (does_post_ops_) YUBA_RETURN_IF_ERROR(PreparePostOperands());
    DnnlTensor& filter = tensors_[kFilter];
    if (keep_filter && places_[kFilter] != LibraryTensor::kResult && filter.reordered &&
        geometry_.loops.empty() && geometry_.sums.empty()) {
      YUBA_RETURN_IF_ERROR(filter.Keep());
    }
    return PrepareWorkspace();
  }

  bool does_post_ops() const override { return does_post_ops_; }

  int64_t workspace_bytes() const override { return workspace_bytes_; }
  int64_t kept_bytes() const override { return tensors_[kFilter].kept_bytes; }
  void ForgetKept() override { tensors_[kFilter].is_kept = false; }

  absl::Status Run(const LibraryBuffers& buffers, char* workspace) override {
    const float* const left = static_cast<const float*>(buffers.left);
    const float* const right = static_cast<const float*>(buffers.right);
    float* const result = static_cast<float*>(buffers.result);
    post_ = &buffers.post;
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
  bool IsOneCall() const {
    return geometry_.loops.empty() && geometry_.sums.empty() && !geometry_.has_gaps &&
           !geometry_.no_terms;
  }

  const CallBuffers::Buffer& BufferOf(LibraryTensor tensor) const {
    return tensor == LibraryTensor::kLeft    ? buffers_.left
           : tensor == LibraryTensor::kRight ? buffers_.right
                                             : buffers_.result;
  }

  int64_t OffsetOf(LibraryTensor tensor) const {
    return tensor == LibraryTensor::kLeft    ? geometry_.left
           : tensor == LibraryTensor::kRight ? geometry_.right
                                             : geometry_.output;
  }

  static int64_t Elements(const dnnl_memory_desc_t& format) {
    int64_t elements = 1;
    for (int d = 0; d < format.ndims; ++d) elements *= format.dims[d];
    return elements;
  }

  // The result's, where its buffer is free and has room for it.
  void ChooseFormat(const dnnl_memory_desc_t& inner, BufferFormats& formats) const {
    const auto bytes = static_cast<int64_t>(library_.memory_desc_get_size(&inner));
    if (formats.free[buffers_.result.number] && bytes <= buffers_.result_bytes)
      formats.chosen[buffers_.result.number] = inner;
  }

  static const dnnl_memory_desc_t& FormatOf(int buffer, const dnnl_memory_desc_t& plain,
                                            const BufferFormats& formats) {
    const auto chosen = formats.chosen.find(buffer);
    return chosen == formats.chosen.end() ? plain : chosen->second;
  }

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

  // The primitive, with the post-ops of the call where one call computes all of the result and the
  // library has a fast routine. Of formats that which it prefers without post-ops is tried first:
  // with them it may prefer another, of which copies between routines cost more than it saves.
  absl::Status PreparePrimitive() {
    dnnl_convolution_desc_t desc;
    YUBA_RETURN_IF_ERROR(DescribeConvolution(any_, &desc));
    primitive_ = std::make_unique<DnnlPrimitive>(library_);
    YUBA_ASSIGN_OR_RETURN(const bool made, primitive_->Convolution(desc, nullptr, false));
    if (!made) return OneDnnError("preparing a convolution", dnnl_unimplemented);
    if (shape_.post_ops.empty() || !IsOneCall()) return absl::OkStatus();
    YUBA_ASSIGN_OR_RETURN(const bool described, PreparePostOps());
    Formats preferred = any_;
    for (const int t : {kInput, kOutput}) preferred[t] = primitive_->Query(routine_.formats[t], 0);
    for (const Formats& formats : {preferred, any_}) {
      if (!described || does_post_ops_) break;
      YUBA_RETURN_IF_ERROR(DescribeConvolution(formats, &desc));
      auto primitive = std::make_unique<DnnlPrimitive>(library_);
      YUBA_ASSIGN_OR_RETURN(does_post_ops_, primitive->Convolution(desc, &post_ops_, true));
      if (does_post_ops_) primitive_ = std::move(primitive);
    }
    if (!does_post_ops_) post_operands_.clear();
    return absl::OkStatus();
  }

  // An operand of a post-op: one value for each channel, or one, or one for each element of the
  // result. The last are brought into the format of the output, which the library chooses.
  struct PostOperand {
    explicit PostOperand(const OneDnn& library) : tensor(library) {}
    dnnl_memory_desc_t plain;
    bool like_output = false;
    DnnlTensor tensor;
  };

  // False where an operand lies otherwise.
  absl::StatusOr<bool> PreparePostOps() {
    for (const PostOpShape& step : shape_.post_ops) {
      absl::optional<dnnl_memory_desc_t> format;
      if (step.number >= 0) {
        auto& operand = post_operands_.emplace_back(std::make_unique<PostOperand>(library_));
        YUBA_ASSIGN_OR_RETURN(const bool known,
                              DescribeOperand(step.number, plain_[kOutput], *operand));
        if (!known) return false;
        format = operand->like_output ? any_[kOutput] : operand->plain;
      }
      YUBA_RETURN_IF_ERROR(post_ops_.Add(step, format));
    }
    return true;
  }

  absl::StatusOr<bool> DescribeOperand(int number, const dnnl_memory_desc_t& output,
                                       PostOperand& operand) const {
    const std::vector<WalkedBuffer>& buffers = shape_.post_op_walk.buffers;
    const std::vector<int64_t>&result = buffers[0].strides, &steps = buffers[1 + number].strides;
    operand.plain = output;
    operand.like_output = true;
    bool channels = true;  // it has no other dimension
    for (size_t d = 0; d < steps.size(); ++d) {
      const bool moves = shape_.post_op_walk.extents[d] > 1;
      operand.like_output &= !moves || steps[d] == result[d];
    }
    if (operand.like_output) return true;
    const StridedIndex& outputs =
        geometry_.channel.extent > 1 ? geometry_.channel : geometry_.group;
    const auto post = [&](const StridedIndex& index) {
      return index.post.empty() ? 0 : index.post[number];
    };
    const int64_t step = post(outputs), count = geometry_.group.extent * geometry_.channel.extent;
    const bool both = geometry_.group.extent > 1 && geometry_.channel.extent > 1;
    if (both) channels = post(geometry_.group) == geometry_.channel.extent * step;
    int64_t elements = 1;  // that the operand has, as far as it moves
    for (size_t d = 0; d < steps.size(); ++d) {
      if (steps[d] != 0) elements *= shape_.post_op_walk.extents[d];
    }
    if (!channels || step > 1 || elements != (step == 0 ? 1 : count)) return false;
    DnnlDimensions dimensions;
    for (int d = 0; d < output.ndims; ++d) {
      const bool runs = d == 1 && step != 0;
      dimensions.Add(runs ? count : 1, runs ? step : 0);
    }
    dnnl_memory_desc_t any;
    YUBA_RETURN_IF_ERROR(dimensions.Describe(library_, &operand.plain, &any));
    return true;
  }

  absl::Status PreparePostOperands() {
    for (size_t number = 0; number < post_operands_.size(); ++number) {
      PostOperand& operand = *post_operands_[number];
      const dnnl_memory_desc_t inner =
          operand.like_output ? primitive_->Query(routine_.formats[kOutput], 0) : operand.plain;
      YUBA_RETURN_IF_ERROR(post_ops_.SetFormat(number, inner));
      YUBA_RETURN_IF_ERROR(
          operand.tensor.Prepare(library_, operand.plain, inner, DnnlTensor::kOperand));
    }
    return absl::OkStatus();
  }

  absl::Status PrepareWorkspace() {
    int64_t scratchpad = primitive_->scratchpad();
    const auto place = [&](DnnlTensor& tensor) {
      tensor.offset = workspace_bytes_;
      workspace_bytes_ += tensor.bytes;
      scratchpad = std::max(scratchpad, tensor.scratchpad());
    };
    for (DnnlTensor& tensor : tensors_) place(tensor);
    for (const auto& operand : post_operands_) place(operand->tensor);
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
  dnnl_memory_t Bring(DnnlTensor& operand, const float* data) {
    if (!operand.reordered) return operand.inner.At(data);
    const bool kept = operand.kept_bytes > 0;
    dnnl_memory_t inner = operand.inner.At(kept ? operand.kept.data() : At(operand));
    if (!kept || !operand.is_kept) Copy(operand.reorder, operand.plain.At(data), inner);
    if (kept) operand.is_kept = status_ == dnnl_success;
    return inner;
  }

  void BringPostOperands(std::vector<dnnl_exec_arg_t>& arguments) {
    for (size_t number = 0; number < post_operands_.size(); ++number) {
      const float* const data = static_cast<const float*>((*post_)[number]) +
                                shape_.post_op_walk.buffers[1 + number].offset;
      arguments.push_back(
          {post_ops_.ArgumentOf(number), Bring(post_operands_[number]->tensor, data)});
    }
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
        memory = Bring(tensors_[t], places_[t] == LibraryTensor::kLeft ? left : right);
      }
      arguments.push_back({routine_.arguments[t], memory});
    }
    BringPostOperands(arguments);
    Execute(primitive_->get(), std::move(arguments));
    if (!written->reordered) return;
    Copy(first ? written->reorder : written->add, computed, written->plain.At(result));
  }

  const OneDnn& library_;
  const program::LibraryCall::Kind kind_;
  const Routine routine_;
  const std::array<LibraryTensor, kTensors> places_;  // which tensors of the call they are
  const CallBuffers buffers_;
  Formats plain_ = {}, any_ = {};
  const LibraryShape shape_;
  const ConvolutionGeometry geometry_;
  DnnlPostOps post_ops_;
  std::vector<std::unique_ptr<PostOperand>> post_operands_;  // [operand of a post-op]
  bool does_post_ops_ = false;
  std::unique_ptr<DnnlPrimitive> primitive_;
  DnnlTensor tensors_[kTensors];
  DnnlMemory scratchpad_;
  dnnl_stream_t stream_ = nullptr;
  int64_t scratchpad_offset_ = 0, workspace_bytes_ = 0;
  char* workspace_ = nullptr;                       // of the run in progress
  const std::vector<const void*>* post_ = nullptr;  // of it: where the operands of post-ops begin
  dnnl_status_t status_ = dnnl_success;
};

CallBuffers BuffersOf(const LoadedProgram& program, const program::Kernel& kernel,
                      const LibraryShape& shape, int device) {
  const program::LibraryCall& call = program.message().functions(kernel.function()).library();
  const auto buffer = [&](const program::Access& access) {
    return CallBuffers::Buffer{access.buffer(), Volume(program.BufferBox(access.buffer(), device))};
  };
  CallBuffers buffers;
  buffers.left = buffer(kernel.operands(call.left()));
  buffers.right = buffer(kernel.operands(call.right()));
  buffers.result = buffer(kernel.results(0));
  buffers.result_bytes = program.message().buffers(buffers.result.number).size();
  for (const PostOpShape& step : shape.post_ops) {
    if (step.operand >= 0) buffers.post.push_back(buffer(kernel.operands(step.operand)));
  }
  return buffers;
}

}  // namespace

absl::StatusOr<std::unique_ptr<ConvolutionKernel>> MakeConvolution(const OneDnn& library,
                                                                   const LoadedProgram& program,
                                                                   const program::Kernel& kernel,
                                                                   int device) {
  const LibraryShape shape = ShapeOf(program, kernel, device);
  YUBA_CHECK(!shape.no_result && !shape.no_terms);
  auto kind = program.message().functions(kernel.function()).library().kind();
  const bool contraction = kind == program::LibraryCall::CONTRACTION;
  ConvolutionTensors tensors;
  ConvolutionGeometry geometry;
  if (contraction) {
    const absl::optional<PointwiseConvolution> pointwise = PointwiseOf(shape);
    if (!pointwise.has_value()) return std::unique_ptr<ConvolutionKernel>();
    kind = program::LibraryCall::CONVOLUTION;
    geometry = pointwise->geometry;
    if (!pointwise->input_is_left) std::swap(tensors.input, tensors.filter);
  } else {
    tensors = TensorsOf(kind);
    geometry = GeometryOf(program, kernel, shape, device, FilterGroups::kOwnDimension);
  }
  auto convolution =
      std::make_unique<Convolution>(library, kind, tensors, shape, std::move(geometry),
                                    BuffersOf(program, kernel, shape, device));
  YUBA_RETURN_IF_ERROR(convolution->Make());
  if (!shape.post_ops.empty() && contraction && !convolution->does_post_ops())
    return std::unique_ptr<ConvolutionKernel>();
  return std::unique_ptr<ConvolutionKernel>(std::move(convolution));
}

}  // namespace yuba::runtime
