// What a routine of cuDNN does behind its convolution (CudnnEpilogue), as operations of a graph.
#ifndef YUBA_RUNTIME_CUDA_LIBRARY_CUDNN_EPILOGUE_H_
#define YUBA_RUNTIME_CUDA_LIBRARY_CUDNN_EPILOGUE_H_

#include <vector>

#include "runtime/cuda/library/cudnn_plan.h"

namespace yuba::cuda {

// What a graph is made of so far.
struct CudnnOperations {
  std::vector<CudnnDescriptor> operations, others;
};

// Adds the routine's epilogue: operations from `convolved`, the tensor that the convolution writes
// and the routine keeps to itself, to `result`. Both become others.
absl::Status AddEpilogue(const Cudnn& library, const CudnnRoutine& routine,
                         CudnnDescriptor convolved, CudnnDescriptor result, CudnnOperations& made);

}  // namespace yuba::cuda

#endif  // YUBA_RUNTIME_CUDA_LIBRARY_CUDNN_EPILOGUE_H_
