#ifdef YUBA_WITH_CUDA
#include "runtime/cuda/library/cudnn_convolution.h"

#include <algorithm>
#include <utility>

#include "absl/types/optional.h"
#include "runtime/cuda/library/alignment.h"
#include "runtime/cuda/library/raw_type.h"

namespace yuba::cuda {
namespace {

// Better alignment is of no use to the library.
constexpr int64_t kUsefulAlignment = 16;

// Whether the tensor's elements lie in one piece, in any order.
bool IsDense(const CudnnTensor& tensor) {
  int64_t elements = 1, span = 1;
  for (size_t d = 0; d < tensor.extents.size(); ++d) {
    elements *= tensor.extents[d];
    span += (tensor.extents[d] - 1) * tensor.strides[d];
  }
  return span == elements;
}

// An operand of small floats, copied to f32 in the workspace.
struct Widening {
  int64_t elements = 0;  // of the whole buffer
  int64_t offset = 0;    // in the workspace, bytes
};

class CudnnConvolution : public LibraryKernel {
 public:
  CudnnConvolution(CudnnCall call, const LibrarySite& site, const LibraryHandles& handles)
      : call_(std::move(call)),
        shape_(site.shape),
        left_buffer_(site.left()),
        right_buffer_(site.right()),
        result_buffer_(site.result()),
        gpu_(handles.gpu()),
        stream_(handles.stream()),
        places_({call_.tensors.input, call_.tensors.filter, call_.tensors.output}) {}

  absl::Status Prepare(const LibrarySite& site, const CudnnTarget& target) {
    if (call_.geometry.no_terms) return absl::OkStatus();
    YUBA_ASSIGN_OR_RETURN(plan_, CudnnPlan::Make(target, call_.routine));
    workspace_bytes_ = plan_->workspace_bytes();
    if (!call_.geometry.sums.empty()) {
      CudnnRoutine adding = call_.routine;
      adding.adds = true;
      YUBA_ASSIGN_OR_RETURN(adding_, CudnnPlan::Make(target, adding));
      workspace_bytes_ = std::max(workspace_bytes_, adding_->workspace_bytes());
    }
    PlaceForPostOps();
    if (!call_.widened) return absl::OkStatus();
    PlaceWidened(site, left_buffer_, left_);
    PlaceWidened(site, right_buffer_, right_);
    return absl::OkStatus();
  }

  int64_t workspace_bytes() const override { return workspace_bytes_; }
  bool has_gaps() const override { return call_.geometry.no_terms || call_.geometry.has_gaps; }

  absl::Status Run(absl::Span<char* const> buffers, char* workspace) override {
    const runtime::ConvolutionGeometry& geometry = call_.geometry;
    if (geometry.no_terms) return absl::OkStatus();
    const char* left = buffers[left_buffer_];
    const char* right = buffers[right_buffer_];
    char* const result = buffers[result_buffer_];
    if (call_.widened) {
      YUBA_RETURN_IF_ERROR(Widen(left_, left, workspace));
      YUBA_RETURN_IF_ERROR(Widen(right_, right, workspace));
      left = workspace + left_.offset;
      right = workspace + right_.offset;
    }
    if (zeros_bytes_ > 0)
      YUBA_CUDA(cudaMemsetAsync(workspace + zeros_offset_, 0, zeros_bytes_, stream_));
    runtime::StepOffsets first = {geometry.left, geometry.right, geometry.output, {}};
    for (size_t n = 1; n < shape_.post_op_walk.buffers.size(); ++n)
      first.post.push_back(shape_.post_op_walk.buffers[n].offset);
    absl::Status status;
    ForEachStep(geometry.loops, 0, first, [&](const runtime::StepOffsets& at) {
      CudnnPointers pointers;
      if (status.ok()) status = SetPostOperands(buffers, at, workspace, pointers);
      bool adds = false;
      ForEachStep(geometry.sums, 0, at.left, at.right, 0, [&](int64_t l, int64_t r, int64_t) {
        if (!status.ok()) return;
        char* const of_call[] = {At(left, l), At(right, r), At(result, at.result)};
        for (int t = 0; t < kConvolutionTensors; ++t)
          pointers.tensors[t] = of_call[static_cast<size_t>(places_[t])];
        status = (adds ? *adding_ : *plan_).Execute(pointers, workspace);
        adds = true;
      });
    });
    return status;
  }

 private:
  char* At(const char* buffer, int64_t element) const {
    return const_cast<char*>(buffer) + element * ByteSize(call_.routine.type);
  }

  // A bias of zeros, where the epilogue has one and the call has none, and a residual's copy.
  void PlaceForPostOps() {
    if (!call_.routine.epilogue.has_value()) return;
    const int64_t bytes = ByteSize(call_.routine.type);
    if (call_.post_ops.bias < 0) {
      zeros_bytes_ = call_.routine.tensors[kOutput].extents[1] * bytes;
      zeros_offset_ = Place(zeros_bytes_);
    }
    if (call_.post_ops.copied_span > 0)
      residual_offset_ = Place(call_.post_ops.copied_span * bytes);
  }

  // Where so many bytes begin in the workspace.
  int64_t Place(int64_t bytes) {
    const int64_t offset = Aligned(workspace_bytes_);
    workspace_bytes_ = offset + bytes;
    return offset;
  }

  absl::Status SetPostOperands(absl::Span<char* const> buffers, const runtime::StepOffsets& at,
                               char* workspace, CudnnPointers& pointers) const {
    if (!call_.routine.epilogue.has_value()) return absl::OkStatus();
    const auto operand = [&](int step) {
      const runtime::PostOpShape& read = shape_.post_ops[step];
      return At(buffers[read.operand], at.post[read.number]);
    };
    const CudnnPostOps& post_ops = call_.post_ops;
    pointers.bias = post_ops.bias < 0 ? workspace + zeros_offset_ : operand(post_ops.bias);
    if (post_ops.residual < 0) return absl::OkStatus();
    char* const residual = operand(post_ops.residual);
    pointers.residual = residual;
    if (post_ops.copied_span == 0) return absl::OkStatus();
    pointers.residual = workspace + residual_offset_;
    return CopyResidual(0, residual, workspace + residual_offset_);
  }

  // The loops of the copy from `depth` on; the last two are a matrix.
  absl::Status CopyResidual(size_t depth, const char* from, char* to) const {
    const std::vector<CopiedLoop>& loops = call_.post_ops.copied;
    if (depth + 2 >= loops.size()) {
      const CopiedLoop row = depth + 2 == loops.size() ? loops[depth] : CopiedLoop();
      const CopiedLoop& column = loops.back();
      const JobType type = RawType(call_.routine.type);
      return gpu_.LaunchMatrixCopy({from, row.from, column.from, to, row.to, column.to, row.extent,
                                    column.extent, type, type},
                                   stream_);
    }
    for (int64_t i = 0; i < loops[depth].extent; ++i) {
      YUBA_RETURN_IF_ERROR(
          CopyResidual(depth + 1, At(from, i * loops[depth].from), At(to, i * loops[depth].to)));
    }
    return absl::OkStatus();
  }

  void PlaceWidened(const LibrarySite& site, int operand, Widening& widening) {
    const int buffer = site.kernel.operands(operand).buffer();
    widening.elements = Volume(site.program.BufferBox(buffer, site.device));
    widening.offset = Place(widening.elements * ByteSize(ElementType::kF32));
  }

  absl::Status Widen(const Widening& widening, const char* buffer, char* workspace) const {
    const JobType from = shape_.type == ElementType::kBF16 ? JobType::kBF16 : JobType::kF16;
    return gpu_.LaunchMatrixCopy({buffer, widening.elements, 1, workspace + widening.offset,
                                  widening.elements, 1, 1, widening.elements, from, JobType::kF32},
                                 stream_);
  }

  const CudnnCall call_;
  const runtime::LibraryShape shape_;
  const int left_buffer_, right_buffer_, result_buffer_;  // among the buffers
  const Gpu& gpu_;
  const cudaStream_t stream_;
  const std::array<runtime::LibraryTensor, kConvolutionTensors> places_;
  absl::optional<CudnnPlan> plan_, adding_;
  Widening left_, right_;
  // Of what post-ops need in the workspace.
  int64_t zeros_offset_ = 0, zeros_bytes_ = 0, residual_offset_ = 0;
  int64_t workspace_bytes_ = 0;
};

CudnnEpilogue EpilogueOf(const LibrarySite& site, const CudnnPostOps& post_ops,
                         const runtime::ConvolutionGeometry& geometry) {
  const auto alignment = [&](int number, bool in_workspace) {
    if (in_workspace) return kUsefulAlignment;
    const runtime::PostOpShape& step = site.shape.post_ops[number];
    const int64_t bytes = ByteSize(site.shape.type);
    const int64_t first = site.shape.post_op_walk.buffers[1 + step.number].offset;
    return std::min(kUsefulAlignment, AlignmentOfPost(site.offsets[step.operand] + first * bytes,
                                                      bytes, geometry.loops, step.number));
  };
  CudnnEpilogue epilogue;
  epilogue.relu = post_ops.relu;
  epilogue.residual = post_ops.residual >= 0;
  if (epilogue.residual)
    epilogue.residual_alignment = alignment(post_ops.residual, post_ops.copied_span > 0);
  epilogue.bias_alignment = alignment(post_ops.bias, post_ops.bias < 0);
  return epilogue;
}

}  // namespace

absl::StatusOr<CudnnCall> CudnnCallOf(const LibrarySite& site) {
  const program::LibraryCall& call = site.call();
  const runtime::LibraryShape& shape = site.shape;
  CudnnCall made;
  if (call.kind() == program::LibraryCall::CONTRACTION) {
    auto pointwise = runtime::PointwiseOf(shape);
    if (!pointwise.has_value())
      return absl::UnimplementedError("a product of matrices is no convolution of cuDNN's");
    made.geometry = std::move(pointwise->geometry);
    if (!pointwise->input_is_left) std::swap(made.tensors.input, made.tensors.filter);
    made.routine.kind = program::LibraryCall::CONVOLUTION;
  } else {
    made.geometry = GeometryOf(site.program, site.kernel, shape, site.device,
                               runtime::FilterGroups::kWithChannels);
    made.tensors = runtime::TensorsOf(call.kind());
    made.routine.kind = call.kind();
  }
  const bool small = ByteSize(shape.type) == 2;
  made.widened = shape.type != shape.result_type;
  if (small && !made.widened && !made.geometry.sums.empty())
    return absl::UnimplementedError(
        "cuDNN rounds what several of its calls add up to a small float");
  const ElementType type = made.widened ? shape.result_type : shape.type;
  const bool steps = !shape.post_ops.empty();
  if (made.geometry.no_terms && steps)
    return absl::UnimplementedError("cuDNN does nothing to what has no terms");
  if (made.geometry.no_terms) return made;
  const int64_t bytes = ByteSize(type);
  const auto& g = made.geometry;
  const auto alignment = [&](int64_t begin, int64_t first, int64_t runtime::StridedIndex::* step) {
    return std::min(kUsefulAlignment,
                    AlignmentOf(begin + first * bytes, bytes, {&g.loops, &g.sums}, step));
  };
  // In the order of LibraryTensor. Copies in the workspace begin aligned.
  const int64_t of_places[] = {
      alignment(made.widened ? 0 : site.offsets[site.left()], g.left, &runtime::StridedIndex::left),
      alignment(made.widened ? 0 : site.offsets[site.right()], g.right,
                &runtime::StridedIndex::right),
      alignment(site.offsets[site.result()], g.output, &runtime::StridedIndex::result)};
  const runtime::ConvolutionTensors& tensors = made.tensors;
  const auto of = [&](runtime::LibraryTensor tensor) {
    return of_places[static_cast<size_t>(tensor)];
  };
  made.routine = RoutineOf(g, made.tensors, made.routine.kind, type,
                           {of(tensors.input), of(tensors.filter), of(tensors.output)});
  if (!IsDense(made.routine.tensors[kFilter]))
    return absl::UnimplementedError("cuDNN takes no part of a filter that is not in one piece");
  made.routine.tf32 = made.widened || (call.tf32() && type == ElementType::kF32);
  if (!steps) return made;
  const auto post_ops = PostOpsOf(shape, g, made.routine);
  if (!post_ops.has_value())
    return absl::UnimplementedError("cuDNN does not do in one call what follows a convolution");
  made.post_ops = *post_ops;
  made.routine.epilogue = EpilogueOf(site, *post_ops, g);
  return made;
}

absl::StatusOr<std::unique_ptr<LibraryKernel>> MakeCudnnConvolution(const LibrarySite& site,
                                                                    LibraryHandles& handles) {
  YUBA_ASSIGN_OR_RETURN(CudnnCall call, CudnnCallOf(site));
  CudnnTarget target;
  YUBA_ASSIGN_OR_RETURN(target.library, Cudnn::Open());
  YUBA_ASSIGN_OR_RETURN(target.handle, handles.ForCudnn());
  auto convolution = std::make_unique<CudnnConvolution>(std::move(call), site, handles);
  YUBA_RETURN_IF_ERROR(convolution->Prepare(site, target));
  return std::unique_ptr<LibraryKernel>(std::move(convolution));
}

}  // namespace yuba::cuda

#endif  // YUBA_WITH_CUDA
