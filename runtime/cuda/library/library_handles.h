// What the libraries want to be made once before they are called: their handles, of one GPU and one
// stream of it. Each is made when it is first asked for.
#ifndef YUBA_RUNTIME_CUDA_LIBRARY_LIBRARY_HANDLES_H_
#define YUBA_RUNTIME_CUDA_LIBRARY_LIBRARY_HANDLES_H_

#include <memory>

#include "absl/status/statusor.h"
#include "runtime/cuda/gpu.h"

namespace yuba::cuda {

class CudnnAttentions;
class LtTuner;

class LibraryHandles {
 public:
  // `stream` is one of `gpu`; both outlive this. Every call comes from a thread that has entered
  // the GPU, the destructor too.
  LibraryHandles(const Gpu& gpu, cudaStream_t stream);
  ~LibraryHandles();
  LibraryHandles(const LibraryHandles&) = delete;

  const Gpu& gpu() const { return gpu_; }
  cudaStream_t stream() const { return stream_; }

  // Chooses algorithms of cuBLASLt from here on (cublas_lt_tuner.h); null: its heuristics do.
  void SetTuner(std::unique_ptr<LtTuner> tuner);
  LtTuner* tuner() const { return tuner_.get(); }

  // Unavailable where the library is missing.
  absl::StatusOr<cublasLtHandle_t> ForCublasLt();
  // Works on the stream.
  absl::StatusOr<cudnnHandle_t> ForCudnn();
  // Of cuDNN with this handle; lives as long as this.
  absl::StatusOr<CudnnAttentions*> Attentions();

 private:
  const Gpu& gpu_;
  const cudaStream_t stream_;
  cublasLtHandle_t cublas_lt_ = nullptr;
  cudnnHandle_t cudnn_ = nullptr;
  std::unique_ptr<CudnnAttentions> attentions_;
  std::unique_ptr<LtTuner> tuner_;
};

}  // namespace yuba::cuda

#endif  // YUBA_RUNTIME_CUDA_LIBRARY_LIBRARY_HANDLES_H_
