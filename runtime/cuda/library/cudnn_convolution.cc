#ifdef YUBA_WITH_CUDA
#include "runtime/cuda/library/cudnn_convolution.h"

#include <algorithm>

#include "absl/types/optional.h"
#include "runtime/cuda/library/alignment.h"

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
        stream_(handles.stream()) {
    const runtime::ConvolutionTensors tensors = runtime::TensorsOf(call_.routine.kind);
    places_ = {tensors.input, tensors.filter, tensors.output};
  }

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
    absl::Status status;
    ForEachStep(geometry.loops, 0, geometry.left, geometry.right, geometry.output,
                [&](int64_t left_at, int64_t right_at, int64_t result_at) {
                  bool first = true;
                  ForEachStep(geometry.sums, 0, left_at, right_at, 0,
                              [&](int64_t l, int64_t r, int64_t) {
                                if (!status.ok()) return;
                                status = Convolve(first ? *plan_ : *adding_, At(left, l),
                                                  At(right, r), At(result, result_at), workspace);
                                first = false;
                              });
                });
    return status;
  }

 private:
  char* At(const char* buffer, int64_t element) const {
    return const_cast<char*>(buffer) + element * ByteSize(call_.routine.type);
  }

  void PlaceWidened(const LibrarySite& site, int operand, Widening& widening) {
    const int buffer = site.kernel.operands(operand).buffer();
    widening.elements = Volume(site.program.BufferBox(buffer, site.device));
    widening.offset = (workspace_bytes_ + kMostAlignment - 1) / kMostAlignment * kMostAlignment;
    workspace_bytes_ = widening.offset + widening.elements * ByteSize(ElementType::kF32);
  }

  absl::Status Widen(const Widening& widening, const char* buffer, char* workspace) const {
    const JobType from = shape_.type == ElementType::kBF16 ? JobType::kBF16 : JobType::kF16;
    return gpu_.LaunchMatrixCopy({buffer, widening.elements, 1, workspace + widening.offset,
                                  widening.elements, 1, 1, widening.elements, from, JobType::kF32},
                                 stream_);
  }

  absl::Status Convolve(const CudnnPlan& plan, char* left, char* right, char* result,
                        char* workspace) const {
    std::array<void*, kConvolutionTensors> tensors;
    for (int t = 0; t < kConvolutionTensors; ++t) {
      tensors[t] = places_[t] == runtime::LibraryTensor::kLeft    ? left
                   : places_[t] == runtime::LibraryTensor::kRight ? right
                                                                  : result;
    }
    return plan.Execute(tensors, workspace);
  }

  const CudnnCall call_;
  const runtime::LibraryShape shape_;
  const int left_buffer_, right_buffer_, result_buffer_;  // among the buffers
  const Gpu& gpu_;
  const cudaStream_t stream_;
  std::array<runtime::LibraryTensor, kConvolutionTensors> places_;
  absl::optional<CudnnPlan> plan_, adding_;
  Widening left_, right_;
  int64_t workspace_bytes_ = 0;
};

}  // namespace

absl::StatusOr<CudnnCall> CudnnCallOf(const LibrarySite& site) {
  const program::LibraryCall& call = site.call();
  const runtime::LibraryShape& shape = site.shape;
  CudnnCall made;
  made.geometry = GeometryOf(site.program, site.kernel, shape, site.device,
                             runtime::FilterGroups::kWithChannels);
  const bool small = ByteSize(shape.type) == 2;
  made.widened = shape.type != shape.result_type;
  if (small && !made.widened && !made.geometry.sums.empty())
    return absl::UnimplementedError(
        "cuDNN rounds what several of its calls add up to a small float");
  const ElementType type = made.widened ? shape.result_type : shape.type;
  made.routine.kind = call.kind();
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
  const runtime::ConvolutionTensors tensors = runtime::TensorsOf(call.kind());
  const auto of = [&](runtime::LibraryTensor tensor) {
    return of_places[static_cast<size_t>(tensor)];
  };
  made.routine =
      RoutineOf(g, call.kind(), type, {of(tensors.input), of(tensors.filter), of(tensors.output)});
  if (!IsDense(made.routine.tensors[kFilter]))
    return absl::UnimplementedError("cuDNN takes no part of a filter that is not in one piece");
  made.routine.tf32 = made.widened || (call.tf32() && type == ElementType::kF32);
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
