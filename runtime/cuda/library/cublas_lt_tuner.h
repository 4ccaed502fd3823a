// What products of one device need to be chosen by a tuning: the tuning, how it knows the GPU and
// the library, and a stream to time algorithms on.
#ifndef YUBA_RUNTIME_CUDA_LIBRARY_CUBLAS_LT_TUNER_H_
#define YUBA_RUNTIME_CUDA_LIBRARY_CUBLAS_LT_TUNER_H_

#include <functional>
#include <memory>
#include <string>

#include "runtime/cuda/gpu.h"
#include "runtime/cuda/library/cublas_lt_matmul.h"
#include "runtime/cuda/tuning.h"

namespace yuba::cuda {

// A call as a tuning knows it: types, extents, and of each matrix its leading dimension, `t` where
// its rows are next to each other, the step of a batch, and the alignment of its pointers in bytes:
//   "f32 tf32 m=512 n=768 k=64 batch=12 a=64+32768@256 b=64t+49152@256 d=768+393216@16 gelu_tanh".
// What numbers are added or multiplied with does not matter for the choice, and is not in it.
std::string CallText(const LtShape& shape);

class LtTuner {
 public:
  // `stream` is one of `gpu`; `wait` blocks until it is idle, or fails. All outlive this. Fails
  // where the GPU cannot be asked for its name. A library that is missing is no error here: nothing
  // is chosen then.
  static absl::StatusOr<std::unique_ptr<LtTuner>> Make(const Gpu& gpu, cudaStream_t stream,
                                                       Tuning& tuning,
                                                       std::function<absl::Status()> wait);

  Tuning& tuning() const { return tuning_; }
  TunedCall Key(const LtShape& shape) const;
  cudaStream_t stream() const { return stream_; }
  const std::function<absl::Status()>& wait() const { return wait_; }
  int64_t cache_bytes() const { return cache_bytes_; }  // of the GPU

 private:
  LtTuner(cudaStream_t stream, Tuning& tuning, std::function<absl::Status()> wait);

  const cudaStream_t stream_;
  Tuning& tuning_;
  const std::function<absl::Status()> wait_;
  TunedCall here_;  // without a call
  int64_t cache_bytes_ = 0;
};

}  // namespace yuba::cuda

#endif  // YUBA_RUNTIME_CUDA_LIBRARY_CUBLAS_LT_TUNER_H_
