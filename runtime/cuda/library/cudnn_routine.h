// A routine described to cuDNN: its tensors, its convolution, and the graph of one operation.
#ifndef YUBA_RUNTIME_CUDA_LIBRARY_CUDNN_ROUTINE_H_
#define YUBA_RUNTIME_CUDA_LIBRARY_CUDNN_ROUTINE_H_

#include <vector>

#include "absl/types/optional.h"
#include "runtime/cuda/library/cudnn_plan.h"

namespace yuba::cuda {

// The number by which graph and pointers name a tensor.
inline int64_t TensorNumber(ConvolutionTensor tensor) { return 1 + tensor; }

struct CudnnGraph {
  CudnnDescriptor operations;              // the graph
  std::vector<CudnnDescriptor> parts;      // what it is made of
  absl::optional<CudnnDescriptor> device;  // that is described; none: the handle's
};

// Unimplemented where the library takes no such routine.
absl::StatusOr<CudnnGraph> GraphOf(const CudnnTarget& target, const CudnnRoutine& routine);

// The GPU that `target` describes, for CudnnGraph::device.
absl::StatusOr<CudnnDescriptor> DeviceOf(const CudnnTarget& target);

}  // namespace yuba::cuda

#endif  // YUBA_RUNTIME_CUDA_LIBRARY_CUDNN_ROUTINE_H_
