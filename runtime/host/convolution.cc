#include "runtime/host/convolution.h"

#include <algorithm>
#include <array>
#include <memory>

#include "opsemantics/base/check.h"
#include "opsemantics/base/status.h"
#include "runtime/convolution_geometry.h"
#include "runtime/host/convolution_post_ops.h"
#include "runtime/host/convolution_routine.h"
#include "runtime/host/onednn.h"
#include "runtime/host/onednn_objects.h"

namespace yuba::runtime {
namespace {

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
        places_{tensors.input, tensors.filter, tensors.output},
        buffers_(std::move(buffers)),
        shape_(shape),
        geometry_(std::move(geometry)),
        routine_(library, kind, tensors, geometry_),
        post_ops_(library),
        tensors_{DnnlTensor(library), DnnlTensor(library), DnnlTensor(library)},
        scratchpad_(library) {}

  ~Convolution() override {
    if (stream_ != nullptr) library_.stream_destroy(stream_);
  }

  // Makes the primitive.
  absl::Status Make() {
    if (geometry_.no_terms) return absl::OkStatus();
    YUBA_RETURN_IF_ERROR(routine_.Describe(plain_, any_));
    return PreparePrimitive();
  }

  std::vector<Touch> Touches() const override {
    // What loops do after the call, they do to plain tensors.
    std::vector<Touch> touches;
    for (int t = 0; t < kTensors; ++t) {
      const CallBuffers::Buffer& buffer = BufferOf(places_[t]);
      Touch& touch = touches.emplace_back();
      touch.buffer = buffer.number;
      touch.plain = plain_[t];
      touch.writes = places_[t] == LibraryTensor::kResult;
      touch.whole = AreStepsInCall() && t != kFilter && OffsetOf(places_[t]) == 0 &&
                    Elements(plain_[t]) == buffer.elements;
    }
    for (size_t number = 0; number < buffers_.post.size(); ++number) {
      Touch& touch = touches.emplace_back();
      touch.buffer = buffers_.post[number].number;
      touch.plain = plain_[kOutput];
      touch.residual = true;
      touch.whole = AreStepsInCall() && post_ops_.operands()[number]->like_output &&
                    shape_.post_op_walk.buffers[1 + number].offset == 0 &&
                    Elements(touch.plain) == buffers_.post[number].elements;
    }
    return touches;
  }

  bool TakesBlocks() const override {
    const auto made = InBlocks({HasManyInputs(), true});
    return made.ok() && *made != nullptr;
  }

  bool GainsBy(const BufferFormats& formats) const override {
    return formats.free[buffers_.result.number] ||
           formats.chosen.count(BufferOf(places_[kInput]).number) > 0;
  }

  bool FilterIsLeft() const override { return places_[kFilter] == LibraryTensor::kLeft; }

  absl::Status Prepare(bool keep_filter, BufferFormats& formats) override {
    if (geometry_.no_terms) return absl::OkStatus();
    const std::array<bool, 2> blocked = Blocked(formats);
    if (blocked[0] || blocked[1]) {
      YUBA_ASSIGN_OR_RETURN(auto primitive, InBlocks(blocked));
      if (primitive != nullptr) primitive_ = std::move(primitive);
    }
    for (int t = 0; t < kTensors; ++t) {
      const dnnl_memory_desc_t& inner = routine_.FormatOf(*primitive_, t);
      const bool result = places_[t] == LibraryTensor::kResult;
      const auto role = !result                  ? DnnlTensor::kOperand
                        : geometry_.sums.empty() ? DnnlTensor::kResult
                                                 : DnnlTensor::kSum;
      const int buffer = BufferOf(places_[t]).number;
      if (result) ChooseFormat(inner, formats);
      YUBA_RETURN_IF_ERROR(
          tensors_[t].Prepare(library_, FormatOf(buffer, plain_[t], formats), inner, role));
    }
    if (does_post_ops_) {
      for (size_t number = 0; number < post_ops_.operands().size(); ++number) {
        ConvolutionPostOps::Operand& operand = *post_ops_.operands()[number];
        if (operand.like_output)
          operand.plain = FormatOf(buffers_.post[number].number, operand.plain, formats);
      }
      YUBA_RETURN_IF_ERROR(post_ops_.Prepare(routine_.FormatOf(*primitive_, kOutput)));
    }
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
  // Whether the call's input and output are to be in blocks of channels: where their buffers are,
  // and where both are copied from and to plain ones, as copies to and from blocks take about half
  // the time of those to and from channels innermost.
  std::array<bool, 2> Blocked(const BufferFormats& formats) const {
    const int input = BufferOf(places_[kInput]).number, output = buffers_.result.number;
    if (formats.blocked[input] || formats.blocked[output])
      return {formats.blocked[input], formats.blocked[output]};
    if (!AreStepsInCall() || formats.free[output] || formats.chosen.count(input) > 0)
      return {false, false};
    const auto copied = [&](int t) {
      return library_.memory_desc_equal(&plain_[t], &routine_.FormatOf(*primitive_, t)) == 0;
    };
    if (!copied(kInput) || !copied(kOutput)) return {false, false};
    return {HasManyInputs(), true};
  }

  // Of fewer channels the library reads plain tensors, in routines that write blocks too.
  bool HasManyInputs() const { return any_[kInput].dims[1] >= 16; }

  // Null where the library has no fast routine for that.
  absl::StatusOr<std::unique_ptr<DnnlPrimitive>> InBlocks(std::array<bool, 2> blocked) const {
    ConvolutionFormats formats = any_;
    for (const int t : {kInput, kOutput}) {
      if (!blocked[t == kOutput]) continue;
      const auto format = routine_.InBlocks(any_[t]);
      if (!format.has_value()) return std::unique_ptr<DnnlPrimitive>();
      formats[t] = *format;
    }
    return routine_.Make(formats, post_ops_.bias(), post_ops_.steps(), true);
  }

  // Whether one call of the library makes all of a forward result, with the steps behind it.
  bool AreStepsInCall() const {
    return kind_ == program::LibraryCall::CONVOLUTION && IsOneCall() &&
           (shape_.post_ops.empty() || does_post_ops_);
  }

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

  // The primitive, with the post-ops of the call where one call computes all of the result and the
  // library has a fast routine. Of formats that which it prefers without post-ops is tried first:
  // with them it may prefer another, of which copies between routines cost more than it saves.
  absl::Status PreparePrimitive() {
    YUBA_ASSIGN_OR_RETURN(primitive_, routine_.Make(any_, nullptr, nullptr, false));
    if (primitive_ == nullptr) return OneDnnError("preparing a convolution", dnnl_unimplemented);
    if (shape_.post_ops.empty() || !IsOneCall()) return absl::OkStatus();
    YUBA_ASSIGN_OR_RETURN(const bool described,
                          post_ops_.Describe(shape_, geometry_, plain_[kOutput], any_[kOutput]));
    ConvolutionFormats preferred = any_;
    for (const int t : {kInput, kOutput}) preferred[t] = routine_.FormatOf(*primitive_, t);
    for (const ConvolutionFormats& formats : {preferred, any_}) {
      if (!described || does_post_ops_) break;
      YUBA_ASSIGN_OR_RETURN(auto primitive,
                            routine_.Make(formats, post_ops_.bias(), post_ops_.steps(), true));
      does_post_ops_ = primitive != nullptr;
      if (does_post_ops_) primitive_ = std::move(primitive);
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
    for (const auto& operand : post_ops_.operands()) place(operand->tensor);
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
    if (!does_post_ops_) return;
    for (size_t number = 0; number < post_ops_.operands().size(); ++number) {
      ConvolutionPostOps::Operand& operand = *post_ops_.operands()[number];
      const float* const data = static_cast<const float*>((*post_)[number]) +
                                shape_.post_op_walk.buffers[1 + number].offset;
      arguments.push_back({operand.argument, Bring(operand.tensor, data)});
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
      arguments.push_back({routine_.ArgumentOf(t), memory});
    }
    BringPostOperands(arguments);
    Execute(primitive_->get(), std::move(arguments));
    if (!written->reordered) return;
    Copy(first ? written->reorder : written->add, computed, written->plain.At(result));
  }

  const OneDnn& library_;
  const program::LibraryCall::Kind kind_;
  const std::array<LibraryTensor, kTensors> places_;  // which tensors of the call they are
  const CallBuffers buffers_;
  ConvolutionFormats plain_ = {}, any_ = {};
  const LibraryShape shape_;
  const ConvolutionGeometry geometry_;
  const ConvolutionRoutine routine_;
  ConvolutionPostOps post_ops_;
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
