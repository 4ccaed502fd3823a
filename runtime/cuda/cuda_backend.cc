#include "runtime/cuda/cuda_backend.h"

#include <algorithm>

#include "opsemantics/base/status.h"
#include "runtime/cuda/facts.h"
#ifdef YUBA_WITH_CUDA
#include "runtime/cuda/cuda_exchange_steps.h"
#include "runtime/cuda/strict_nccl.h"
#include "runtime/exchange_protocol.h"
#endif

namespace yuba::cuda {

#ifdef YUBA_WITH_CUDA

namespace {

// Every GPU reads every other one's memory.
absl::Status ConnectGpus(int gpus) {
  for (int from = 0; from < gpus; ++from) {
    YUBA_CUDA(cudaSetDevice(from));
    for (int to = 0; to < gpus; ++to) {
      if (from == to) continue;
      int possible = 0;
      YUBA_CUDA(cudaDeviceCanAccessPeer(&possible, from, to));
      if (possible == 0) {
        return absl::UnavailableError(absl::StrCat(
            "GPU ", from, " cannot read the memory of GPU ", to,
            ", which exchanges need; let the program see one GPU (CUDA_VISIBLE_DEVICES=0)"));
      }
      const cudaError_t enabled = cudaDeviceEnablePeerAccess(to, 0);
      if (enabled == cudaErrorPeerAccessAlreadyEnabled)
        cudaGetLastError();  // forgets it
      else
        YUBA_CUDA(enabled);
    }
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status OpenCudaBackend(const runtime::LoadedProgram& program,
                             const runtime::ArenaLayout& layout, NcclChoice choice,
                             runtime::Fleet& fleet) {
  YUBA_ASSIGN_OR_RETURN(const std::vector<GpuFacts> found, FindGpus());
  const int count = program.devices();
  const int gpus = std::min(static_cast<int>(found.size()), count);
  YUBA_RETURN_IF_ERROR(ConnectGpus(gpus));
  std::vector<std::shared_ptr<const Gpu>> opened;
  for (int number = 0; number < gpus; ++number) {
    YUBA_ASSIGN_OR_RETURN(std::shared_ptr<const Gpu> gpu, Gpu::Open(number, program));
    opened.push_back(std::move(gpu));
  }
  std::vector<CudaDevice*> devices;
  for (int device = 0; device < count; ++device) {
    const int64_t gpu = int64_t{device} * gpus / count;
    auto made = std::make_unique<CudaDevice>(device, opened[gpu]);
    YUBA_RETURN_IF_ERROR(made->Prepare(program, layout));
    devices.push_back(made.get());
    fleet.devices.push_back(std::move(made));
  }
  const Nccl* nccl = choice == NcclChoice::kStrict ? &StrictNccl() : nullptr;
  if (choice == NcclChoice::kFound && gpus > 1) {
    const absl::StatusOr<const Nccl*> library = Nccl::Open();
    if (library.ok()) nccl = *library;  // without it GPUs copy from each other
  }
  const int instructions = static_cast<int>(program.instructions().size());
  YUBA_ASSIGN_OR_RETURN(std::unique_ptr<CudaExchangeSteps> steps,
                        CudaExchangeSteps::Make(std::move(devices), nccl));
  fleet.communicator =
      std::make_unique<runtime::ExchangeProtocol>(std::move(steps), count, instructions);
  return absl::OkStatus();
}

#else

absl::Status OpenCudaBackend(const runtime::LoadedProgram&, const runtime::ArenaLayout&, NcclChoice,
                             runtime::Fleet&) {
  return FindGpus().status();
}

#endif  // YUBA_WITH_CUDA

}  // namespace yuba::cuda
