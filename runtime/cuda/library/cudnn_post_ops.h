// The post-ops of a convolution's call as an epilogue of cuDNN's routine (CudnnEpilogue), and where
// its operands lie.
#ifndef YUBA_RUNTIME_CUDA_LIBRARY_CUDNN_POST_OPS_H_
#define YUBA_RUNTIME_CUDA_LIBRARY_CUDNN_POST_OPS_H_

#include <vector>

#include "absl/types/optional.h"
#include "runtime/cuda/library/cudnn_plan.h"

namespace yuba::cuda {

// A loop of a copy. Steps in elements.
struct CopiedLoop {
  int64_t extent = 1, from = 0, to = 0;
};

struct CudnnPostOps {
  int residual = -1, bias = -1;  // positions in LibraryShape::post_ops; -1: there is none
  bool relu = false;
  // Where the residual lies otherwise than the result, its copy that lies as the result does:
  // outermost first, and how many elements there are from its first one to its last.
  std::vector<CopiedLoop> copied;
  int64_t copied_span = 0;
};

// The steps of a shape that has some. `routine` is that of each step of the geometry's loops.
// nullopt where the steps are no epilogue of it, and where several calls add up the convolution or
// leave out elements of the result.
absl::optional<CudnnPostOps> PostOpsOf(const runtime::LibraryShape& shape,
                                       const runtime::ConvolutionGeometry& geometry,
                                       const CudnnRoutine& routine);

}  // namespace yuba::cuda

#endif  // YUBA_RUNTIME_CUDA_LIBRARY_CUDNN_POST_OPS_H_
