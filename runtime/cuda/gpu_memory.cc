#ifdef YUBA_WITH_CUDA
#include "runtime/cuda/gpu_memory.h"

#include <algorithm>

namespace yuba::cuda {

absl::Status GpuMemory::Allocate(int64_t bytes) {
  YUBA_CUDA(cudaMalloc(reinterpret_cast<void**>(&data_), std::max<int64_t>(bytes, 1)));
  return absl::OkStatus();
}

absl::Status GpuMemory::Store(const std::vector<int64_t>& numbers, cudaStream_t stream) {
  const size_t bytes = numbers.size() * sizeof(int64_t);
  YUBA_RETURN_IF_ERROR(Allocate(static_cast<int64_t>(bytes)));
  // From memory of the host that is not pinned: `numbers` have been read when this returns, and
  // arrive later. cudaMemcpy would not do: kernels of `stream`, which does not block, do not wait
  // for it.
  YUBA_CUDA(cudaMemcpyAsync(data_, numbers.data(), bytes, cudaMemcpyHostToDevice, stream));
  return absl::OkStatus();
}

}  // namespace yuba::cuda

#endif  // YUBA_WITH_CUDA
