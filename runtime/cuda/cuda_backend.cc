#include "runtime/cuda/cuda_backend.h"

#include <algorithm>

#include "absl/strings/str_format.h"
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

// [from][to]: whether a GPU can read the memory of another. Lets it where that is possible.
absl::StatusOr<std::vector<std::vector<bool>>> ConnectGpus(int gpus) {
  std::vector<std::vector<bool>> connected(gpus, std::vector<bool>(gpus, true));
  for (int from = 0; from < gpus; ++from) {
    YUBA_CUDA(cudaSetDevice(from));
    for (int to = 0; to < gpus; ++to) {
      if (from == to) continue;
      int possible = 0;
      YUBA_CUDA(cudaDeviceCanAccessPeer(&possible, from, to));
      connected[from][to] = possible != 0;
      if (possible == 0) continue;
      const cudaError_t enabled = cudaDeviceEnablePeerAccess(to, 0);
      // A GPU can read eight others at most, and may read some already.
      connected[from][to] = enabled != cudaErrorTooManyPeers;
      if (enabled == cudaErrorPeerAccessAlreadyEnabled || enabled == cudaErrorTooManyPeers)
        cudaGetLastError();  // forgets it
      else
        YUBA_CUDA(enabled);
    }
  }
  return connected;
}

// What a device needs on its GPU besides its arena, about: cuBLAS takes this for itself on GPUs of
// compute capability 9.0, on others less (cuBLAS's documentation, cublasSetWorkspace).
constexpr int64_t kCublasBytes = int64_t{32} << 20;

bool CallsCublas(const runtime::LoadedProgram& program) {
  const auto& functions = program.message().functions();
  return std::any_of(functions.begin(), functions.end(),
                     [](const program::Function& function) { return function.has_library(); });
}

// Whether the GPU, which is the calling thread's, has room for so many devices of the program,
// before anything is allocated.
absl::Status CheckMemory(const Gpu& gpu, int devices, const runtime::LoadedProgram& program,
                         const runtime::ArenaLayout& layout) {
  size_t free = 0, total = 0;
  YUBA_RETURN_IF_ERROR(gpu.Enter());
  YUBA_CUDA(cudaMemGetInfo(&free, &total));
  const int64_t each = layout.size + (CallsCublas(program) ? kCublasBytes : 0);
  if (each * devices <= static_cast<int64_t>(free)) return absl::OkStatus();
  return absl::ResourceExhaustedError(absl::StrFormat(
      "GPU %d has %.1f MB free of %.1f, and the program needs %.1f: %d of its devices, each with "
      "%.1f MB for tensors and %.1f for libraries; plan it with --memory, for more devices, or end "
      "what else uses the GPU",
      gpu.number(), 1e-6 * static_cast<double>(free), 1e-6 * static_cast<double>(total),
      1e-6 * static_cast<double>(each * devices), devices, 1e-6 * static_cast<double>(layout.size),
      1e-6 * static_cast<double>(each - layout.size)));
}

}  // namespace

absl::Status OpenCudaBackend(const runtime::LoadedProgram& program,
                             const runtime::ArenaLayout& layout, const CudaOptions& options,
                             double copy_seconds, runtime::Fleet& fleet) {
  YUBA_ASSIGN_OR_RETURN(const std::vector<GpuFacts> found, FindGpus());
  const int count = program.devices();
  const int gpus = std::min(static_cast<int>(found.size()), count);
  YUBA_ASSIGN_OR_RETURN(const std::vector<std::vector<bool>> connected, ConnectGpus(gpus));
  std::vector<std::shared_ptr<const Gpu>> opened;
  for (int number = 0; number < gpus; ++number) {
    YUBA_ASSIGN_OR_RETURN(std::shared_ptr<const Gpu> gpu, Gpu::Open(number, program));
    opened.push_back(std::move(gpu));
  }
  const auto gpu_of = [=](int device) { return int64_t{device} * gpus / count; };
  std::vector<int> of_gpu(gpus);  // how many devices each has
  for (int device = 0; device < count; ++device) ++of_gpu[gpu_of(device)];
  for (int number = 0; number < gpus; ++number) {
    YUBA_RETURN_IF_ERROR(CheckMemory(*opened[number], of_gpu[number], program, layout));
  }
  std::vector<CudaDevice*> devices;
  for (int device = 0; device < count; ++device) {
    auto made = std::make_unique<CudaDevice>(device, opened[gpu_of(device)], copy_seconds);
    YUBA_RETURN_IF_ERROR(made->Prepare(program, layout));
    devices.push_back(made.get());
    fleet.devices.push_back(std::move(made));
  }
  const Nccl* nccl = options.nccl == NcclChoice::kStrict ? &StrictNccl() : nullptr;
  if (options.nccl == NcclChoice::kFound && gpus > 1) {
    const absl::StatusOr<const Nccl*> library = Nccl::Open();
    if (library.ok()) nccl = *library;  // without it GPUs copy from each other
  }
  const auto can_read = [=](int reader, int source) {
    return reader == source || (!options.staged && connected[gpu_of(reader)][gpu_of(source)]);
  };
  const int instructions = static_cast<int>(program.instructions().size());
  YUBA_ASSIGN_OR_RETURN(std::unique_ptr<CudaExchangeSteps> steps,
                        CudaExchangeSteps::Make(std::move(devices), can_read, nccl));
  fleet.communicator =
      std::make_unique<runtime::ExchangeProtocol>(std::move(steps), count, instructions);
  return absl::OkStatus();
}

#else

absl::Status OpenCudaBackend(const runtime::LoadedProgram&, const runtime::ArenaLayout&,
                             const CudaOptions&, double, runtime::Fleet&) {
  return FindGpus().status();
}

#endif  // YUBA_WITH_CUDA

}  // namespace yuba::cuda
