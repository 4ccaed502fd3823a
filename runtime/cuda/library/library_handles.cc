#ifdef YUBA_WITH_CUDA
#include "runtime/cuda/library/library_handles.h"

namespace yuba::cuda {

LibraryHandles::~LibraryHandles() {
  if (cublas_ != nullptr) (*Cublas::Open())->cublasDestroy_v2(cublas_);
}

absl::StatusOr<cublasHandle_t> LibraryHandles::ForCublas() {
  if (cublas_ != nullptr) return cublas_;
  YUBA_ASSIGN_OR_RETURN(const Cublas* cublas, Cublas::Open());
  YUBA_CUDA(cublas->cublasCreate_v2(&cublas_));
  YUBA_CUDA(cublas->cublasSetStream_v2(cublas_, stream_));
  // What is added up in f32 is not rounded to a small float between parts of a sum.
  YUBA_CUDA(cublas->cublasSetMathMode(
      cublas_, static_cast<cublasMath_t>(CUBLAS_DEFAULT_MATH |
                                         CUBLAS_MATH_DISALLOW_REDUCED_PRECISION_REDUCTION)));
  return cublas_;
}

}  // namespace yuba::cuda

#endif  // YUBA_WITH_CUDA
