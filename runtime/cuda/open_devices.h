// Opens the devices of this process on its GPUs.
#ifndef YUBA_RUNTIME_CUDA_OPEN_DEVICES_H_
#define YUBA_RUNTIME_CUDA_OPEN_DEVICES_H_

#include <vector>

#include "runtime/cuda/cuda_backend.h"
#include "runtime/cuda/cuda_device.h"

namespace yuba::cuda {

// gpu_of: [device] its GPU, as cudart counts; -1 where another process has the device, of which
// fleet.devices gets null. Those of this process are returned too, ascending: ready to run, or the
// errors of OpenCudaBackend. Lines on stderr say what runs otherwise than the program has it.
absl::StatusOr<std::vector<CudaDevice*>> OpenDevices(const runtime::LoadedProgram& program,
                                                     const runtime::ArenaLayout& layout,
                                                     const CudaOptions& options,
                                                     double copy_seconds,
                                                     const std::vector<int>& gpu_of,
                                                     runtime::Fleet& fleet);

}  // namespace yuba::cuda

#endif  // YUBA_RUNTIME_CUDA_OPEN_DEVICES_H_
