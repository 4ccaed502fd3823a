// A routine described to cuDNN: its tensors, its convolution, and the graph of its operations.
#ifndef YUBA_RUNTIME_CUDA_LIBRARY_CUDNN_ROUTINE_H_
#define YUBA_RUNTIME_CUDA_LIBRARY_CUDNN_ROUTINE_H_

#include <vector>

#include "absl/types/optional.h"
#include "runtime/cuda/library/cudnn_plan.h"

namespace yuba::cuda {

// The numbers by which graph and pointers name tensors; those behind them are of tensors that the
// routine keeps to itself.
inline int64_t TensorNumber(ConvolutionTensor tensor) { return 1 + tensor; }
constexpr int64_t kResidualNumber = 1 + kConvolutionTensors;
constexpr int64_t kBiasNumber = kResidualNumber + 1;
constexpr int64_t kFirstKeptNumber = kBiasNumber + 1;  // the convolution's value

cudnnDataType_t CudnnType(ElementType type);

// A tensor, final. `kept`: the routine keeps it to itself, and it has no pointer.
absl::StatusOr<CudnnDescriptor> Describe(const Cudnn& library, const CudnnTensor& tensor,
                                         ElementType type, int64_t number, bool kept = false);

struct CudnnGraph {
  CudnnDescriptor operations;              // the graph
  std::vector<CudnnDescriptor> parts;      // what it is made of: operations, tensors
  absl::optional<CudnnDescriptor> device;  // that is described; none: the handle's
};

// Unimplemented where the library takes no such routine.
absl::StatusOr<CudnnGraph> GraphOf(const CudnnTarget& target, const CudnnRoutine& routine);

// The GPU that `target` describes, for CudnnGraph::device.
absl::StatusOr<CudnnDescriptor> DeviceOf(const CudnnTarget& target);

}  // namespace yuba::cuda

#endif  // YUBA_RUNTIME_CUDA_LIBRARY_CUDNN_ROUTINE_H_
