// Memory of a GPU that is freed with its object.
#ifndef YUBA_RUNTIME_CUDA_GPU_MEMORY_H_
#define YUBA_RUNTIME_CUDA_GPU_MEMORY_H_

#include <cstdint>
#include <vector>

#include "runtime/cuda/error.h"

namespace yuba::cuda {

// Memory of the calling thread's GPU, at least one byte; freed with the object.
class GpuMemory {
 public:
  GpuMemory() = default;
  ~GpuMemory() { cudaFree(data_); }
  GpuMemory(const GpuMemory&) = delete;
  absl::Status Allocate(int64_t bytes);  // once; ResourceExhausted where it is not to be had
  // Allocates and fills it with a copy of `numbers`, before whatever is started on `stream` later.
  // Other streams may read it too early.
  absl::Status Store(const std::vector<int64_t>& numbers, cudaStream_t stream);
  char* data() const { return data_; }
  const int64_t* numbers() const { return reinterpret_cast<const int64_t*>(data_); }

 private:
  char* data_ = nullptr;
};

}  // namespace yuba::cuda

#endif  // YUBA_RUNTIME_CUDA_GPU_MEMORY_H_
