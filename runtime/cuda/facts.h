// What of CUDA this machine has. A build without the CUDA toolkit has these too, and they say so.
#ifndef YUBA_RUNTIME_CUDA_FACTS_H_
#define YUBA_RUNTIME_CUDA_FACTS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace yuba::cuda {

struct GpuFacts {
  std::string name;
  int64_t memory = 0;  // bytes
  int sm = 0;          // compute capability, 90 for 9.0
};

// "13.0". Unavailable: "no driver", or "built without CUDA".
absl::StatusOr<std::string> DriverVersion();

// At least one. Unavailable, with what was found, where there is none. Asks cudart alone, because
// NCCL opens sockets and succeeds without a driver.
absl::StatusOr<std::vector<GpuFacts>> FindGpus();

// "13.1.0, /usr/local/cuda/lib64/libcublas.so.13". These work without a GPU.
absl::StatusOr<std::string> CublasVersion();
absl::StatusOr<std::string> CudnnVersion();
absl::StatusOr<std::string> NcclVersion();

}  // namespace yuba::cuda

#endif  // YUBA_RUNTIME_CUDA_FACTS_H_
