// GPUs of this machine, or several virtual devices on each. Compiled, but not run on hardware yet.
#ifndef YUBA_RUNTIME_CUDA_CUDA_BACKEND_H_
#define YUBA_RUNTIME_CUDA_CUDA_BACKEND_H_

#include "absl/status/status.h"
#include "runtime/executor.h"

namespace yuba::cuda {

// Device d is on GPU d where there are enough, else the devices are spread over the GPUs in order.
// Unavailable, with what was found, where there is no GPU, where GPUs cannot read each other's
// memory, and in a build without CUDA.
absl::Status OpenCudaBackend(const runtime::LoadedProgram& program,
                             const runtime::ArenaLayout& layout, runtime::Fleet& fleet);

}  // namespace yuba::cuda

#endif  // YUBA_RUNTIME_CUDA_CUDA_BACKEND_H_
