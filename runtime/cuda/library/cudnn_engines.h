// Which of cuDNN's engines computes a graph: the first that the library's heuristics name, for a
// GPU's handle or for a GPU that is described, of those that the caller allows and that stay within
// its limit on workspace. Nothing is timed.
#ifndef YUBA_RUNTIME_CUDA_LIBRARY_CUDNN_ENGINES_H_
#define YUBA_RUNTIME_CUDA_LIBRARY_CUDNN_ENGINES_H_

#include <functional>
#include <vector>

#include "runtime/cuda/library/cudnn_routine.h"

namespace yuba::cuda {

// What the library says of an engine.
struct CudnnEngine {
  int64_t number = -1;  // its number in the library, for graphs of this kind
  std::vector<cudnnBackendNumericalNote_t> notes;
};

// A graph with its engine, ready to be executed.
struct CudnnPlanned {
  CudnnDescriptor plan;
  std::vector<CudnnDescriptor> parts;  // that the plan is made of
  int64_t engine = -1;
  int64_t workspace_bytes = 0;
};

// NotFound where no engine is allowed; errors of the library as they are. Engines that the library
// compiles when they are planned take up to a second each.
absl::StatusOr<CudnnPlanned> ChooseEngine(const CudnnTarget& target, CudnnGraph graph,
                                          int64_t workspace_limit,
                                          const std::function<bool(const CudnnEngine&)>& allows);

// The compute capability of the target's GPU, 90 for 9.0: the calling thread's, where there is a
// handle.
absl::StatusOr<int> CapabilityOf(const CudnnTarget& target);

}  // namespace yuba::cuda

#endif  // YUBA_RUNTIME_CUDA_LIBRARY_CUDNN_ENGINES_H_
