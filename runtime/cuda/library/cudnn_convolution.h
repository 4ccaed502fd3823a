// A convolution, or a gradient of one, through cuDNN: a call of a routine (cudnn_plan.h) for each
// step of what the routine has no role for. Of f32 as IEEE has it, or rounded to TF32 where the
// call allows it; of bf16 or f16 added up in f32; of f64. A result of f32 of small floats is that
// of their values in f32, which TF32 has exactly. A product of matrices with post-ops is one too,
// where its channels stand outside of positions (runtime::PointwiseOf).
#ifndef YUBA_RUNTIME_CUDA_LIBRARY_CUDNN_CONVOLUTION_H_
#define YUBA_RUNTIME_CUDA_LIBRARY_CUDNN_CONVOLUTION_H_

#include "runtime/cuda/library/cudnn_plan.h"
#include "runtime/cuda/library/cudnn_post_ops.h"
#include "runtime/cuda/library/library_kernel.h"

namespace yuba::cuda {

// What a call becomes; also of use without a GPU.
struct CudnnCall {
  runtime::ConvolutionGeometry geometry;
  runtime::ConvolutionTensors tensors;  // which of the call's tensors these are
  CudnnRoutine routine;                 // of each step; nothing where the geometry has no terms
  bool widened = false;                 // operands are brought to f32 first
  CudnnPostOps post_ops;
};
// Unimplemented where partial sums would be rounded to a small float, where a part of a filter is
// used that does not lie in one piece, and where cuDNN's epilogue does not do the post-ops.
absl::StatusOr<CudnnCall> CudnnCallOf(const LibrarySite& site);

absl::StatusOr<std::unique_ptr<LibraryKernel>> MakeCudnnConvolution(const LibrarySite& site,
                                                                    LibraryHandles& handles);

}  // namespace yuba::cuda

#endif  // YUBA_RUNTIME_CUDA_LIBRARY_CUDNN_CONVOLUTION_H_
