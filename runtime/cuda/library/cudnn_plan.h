// One routine of cuDNN, a convolution, perhaps with what follows it, or a gradient of one, as a
// plan of its graph API: described, an engine chosen, ready to be executed. Plans are made for the
// GPU of a handle, or, without any GPU or driver, for one that is described.
//
// The engine is the first that the library's heuristics name for these types, strides and
// alignments within a workspace that follows from the tensors' sizes, of those that give the same
// bits in every run and round no more than the call allows: nothing is timed.
#ifndef YUBA_RUNTIME_CUDA_LIBRARY_CUDNN_PLAN_H_
#define YUBA_RUNTIME_CUDA_LIBRARY_CUDNN_PLAN_H_

#include <array>
#include <string>
#include <vector>

#include "absl/types/optional.h"
#include "runtime/convolution_geometry.h"
#include "runtime/cuda/library/cudnn_descriptor.h"

namespace yuba::cuda {

// The tensors of a convolution, whichever is computed.
enum ConvolutionTensor { kInput, kFilter, kOutput, kConvolutionTensors };

// A tensor as the library sees it: images (the filter: output channels), channels, then windows.
struct CudnnTensor {
  std::vector<int64_t> extents, strides;  // strides in elements
  int64_t alignment = 1;                  // of its pointers, bytes
};

// What a routine does behind its convolution before it writes a result:
//
//   result = act(convolution + residual + bias)
//
// The library has precompiled engines for this pattern, in every float type, and for no part of it
// without a bias: what has none adds zeros.
struct CudnnEpilogue {
  bool residual = false;  // that lies like the result
  bool relu = false;      // of NaN it may be 0
  // Of the pointers to the residual, and to the bias: an element for each channel of the result,
  // next to each other. Bytes.
  int64_t residual_alignment = 1, bias_alignment = 1;
};

struct CudnnRoutine {
  program::LibraryCall::Kind kind = program::LibraryCall::CONVOLUTION;
  ElementType type = ElementType::kF32;  // of all three tensors
  bool tf32 = false;                     // operands of f32 may be rounded to TF32
  bool adds = false;                     // to what the result holds
  std::array<CudnnTensor, kConvolutionTensors> tensors;
  std::vector<int64_t> strides, dilations, low, high;  // of the windows; low, high: padding
  absl::optional<CudnnEpilogue> epilogue;              // of a convolution that does not add
};

// Where the tensors of a routine are in the GPU's memory.
struct CudnnPointers {
  std::array<void*, kConvolutionTensors> tensors = {};
  void* residual = nullptr;  // of an epilogue that has one
  void* bias = nullptr;      // of an epilogue
};

// The routine of one step of `geometry`'s loops and sums, without an epilogue. `tensors` says which
// of the call's tensors those of the routine are, `alignments` are theirs. The channels of the
// filter's groups are contiguous (ConvolutionGeometry::filter_groups).
CudnnRoutine RoutineOf(const runtime::ConvolutionGeometry& geometry,
                       const runtime::ConvolutionTensors& tensors, program::LibraryCall::Kind kind,
                       ElementType type,
                       const std::array<int64_t, kConvolutionTensors>& alignments);

// For whom a plan is made: a GPU's handle, or a description in JSON.
struct CudnnTarget {
  const Cudnn* library = nullptr;
  cudnnHandle_t handle = nullptr;
  std::string description;  // read where there is no handle
};

class CudnnPlan {
 public:
  // Unimplemented where no engine is allowed to compute the routine.
  static absl::StatusOr<CudnnPlan> Make(const CudnnTarget& target, const CudnnRoutine& routine);

  int64_t workspace_bytes() const { return workspace_bytes_; }
  int64_t engine() const { return engine_; }  // its number in the library

  // Starts the routine on the handle's stream. `workspace` has workspace_bytes().
  absl::Status Execute(const CudnnPointers& pointers, char* workspace) const;

 private:
  CudnnPlan(const CudnnTarget& target, CudnnDescriptor plan)
      : library_(target.library), handle_(target.handle), plan_(std::move(plan)) {}

  const Cudnn* library_;
  cudnnHandle_t handle_;
  CudnnDescriptor plan_;
  std::vector<CudnnDescriptor> parts_;  // that the plan is made of
  int64_t workspace_bytes_ = 0, engine_ = -1;
};

}  // namespace yuba::cuda

#endif  // YUBA_RUNTIME_CUDA_LIBRARY_CUDNN_PLAN_H_
