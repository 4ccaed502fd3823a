#ifdef YUBA_WITH_CUDA
#include "runtime/cuda/library/library_handles.h"

#include <utility>

#include "runtime/cuda/library/cublas_lt_tuner.h"
#include "runtime/cuda/library/cudnn_attention.h"

namespace yuba::cuda {

LibraryHandles::LibraryHandles(const Gpu& gpu, cudaStream_t stream) : gpu_(gpu), stream_(stream) {}

LibraryHandles::~LibraryHandles() {
  attentions_.reset();
  if (cublas_lt_ != nullptr) (*CublasLt::Open())->cublasLtDestroy(cublas_lt_);
  if (cudnn_ != nullptr) (*Cudnn::Open())->cudnnDestroy(cudnn_);
}

void LibraryHandles::SetTuner(std::unique_ptr<LtTuner> tuner) { tuner_ = std::move(tuner); }

absl::StatusOr<cublasLtHandle_t> LibraryHandles::ForCublasLt() {
  if (cublas_lt_ != nullptr) return cublas_lt_;
  YUBA_ASSIGN_OR_RETURN(const CublasLt* library, CublasLt::Open());
  YUBA_CUDA(library->cublasLtCreate(&cublas_lt_));
  return cublas_lt_;
}

absl::StatusOr<cudnnHandle_t> LibraryHandles::ForCudnn() {
  if (cudnn_ != nullptr) return cudnn_;
  YUBA_ASSIGN_OR_RETURN(const Cudnn* library, Cudnn::Open());
  YUBA_CUDA(library->cudnnCreate(&cudnn_));
  YUBA_CUDA(library->cudnnSetStream(cudnn_, stream_));
  return cudnn_;
}

absl::StatusOr<CudnnAttentions*> LibraryHandles::Attentions() {
  if (attentions_ != nullptr) return attentions_.get();
  CudnnTarget target;
  YUBA_ASSIGN_OR_RETURN(target.library, Cudnn::Open());
  YUBA_ASSIGN_OR_RETURN(target.handle, ForCudnn());
  attentions_ = std::make_unique<CudnnAttentions>(std::move(target));
  return attentions_.get();
}

}  // namespace yuba::cuda

#endif  // YUBA_WITH_CUDA
