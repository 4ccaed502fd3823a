// What of CUDA this machine has. A build without the CUDA toolkit has these functions too, and they
// all are Unavailable. Nothing here starts work on a GPU.
#ifndef YUBA_RUNTIME_CUDA_FACTS_H_
#define YUBA_RUNTIME_CUDA_FACTS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace yuba::cuda {

struct GpuFacts {
  std::string name;
  int64_t memory = 0;  // of the GPU, bytes
  int sm = 0;          // compute capability: 90 for 9.0
  std::string uuid;    // "GPU-" and 32 hexadecimal digits: this GPU and no other
};

// The newest CUDA that the driver serves, "13.0". Unavailable: "no driver", or "built without
// CUDA".
absl::StatusOr<std::string> DriverVersion();

// OK where there is a driver that serves the CUDA that Yuba was built with; else Unavailable, with
// the oldest that would do.
absl::Status CheckDriver();

// The GPUs of this machine, at least one. Unavailable, with what was found, where there is none.
// Asks cudart alone, because NCCL opens sockets and succeeds without a driver.
absl::StatusOr<std::vector<GpuFacts>> FindGpus();

// The compute capability that all of these GPUs have, of which there is at least one: the oldest's.
int OldestOf(const std::vector<GpuFacts>& gpus);

// A library's version and file, "13.1.0, /usr/local/cuda/lib64/libcublasLt.so.13". They open it,
// which works without a GPU. Unavailable where it is missing.
absl::StatusOr<std::string> CublasVersion();
// Its version alone, "13.1.0".
absl::StatusOr<std::string> CublasNumber();
absl::StatusOr<std::string> CudnnVersion();
absl::StatusOr<std::string> NcclVersion();

}  // namespace yuba::cuda

#endif  // YUBA_RUNTIME_CUDA_FACTS_H_
