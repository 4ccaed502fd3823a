#include "runtime/cuda/cuda_backend.h"

#include <algorithm>
#include <iostream>
#include <map>
#include <set>
#include <string>
#include <tuple>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "opsemantics/base/status.h"
#include "runtime/cuda/facts.h"
#ifdef YUBA_WITH_CUDA
#include "runtime/cuda/cuda_exchange_steps.h"
#include "runtime/cuda/graph_recorder.h"
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

// Whether the GPU has room for these devices, all it has, before their memory is allocated.
absl::Status CheckMemory(const Gpu& gpu, const std::vector<const CudaDevice*>& devices) {
  size_t free = 0, total = 0;
  YUBA_RETURN_IF_ERROR(gpu.Enter());
  YUBA_CUDA(cudaMemGetInfo(&free, &total));
  int64_t needed = 0, tensors = 0, libraries = 0;  // of all devices; of those that need most
  for (const CudaDevice* device : devices) {
    needed += device->arena_bytes() + device->workspace_bytes();
    tensors = std::max(tensors, device->arena_bytes());
    libraries = std::max(libraries, device->workspace_bytes());
  }
  if (needed <= static_cast<int64_t>(free)) return absl::OkStatus();
  return absl::ResourceExhaustedError(absl::StrFormat(
      "GPU %d has %.1f MB free of %.1f, and the program needs %.1f: %d of its devices, each with "
      "%.1f MB for tensors and up to %.1f for libraries; plan it with --memory, for more devices, "
      "or end what else uses the GPU",
      gpu.number(), 1e-6 * static_cast<double>(free), 1e-6 * static_cast<double>(total),
      1e-6 * static_cast<double>(needed), devices.size(), 1e-6 * static_cast<double>(tensors),
      1e-6 * static_cast<double>(libraries)));
}

// One line for each library and cause: what its calls are run as, and the first of them.
void WarnOfFallbacks(const runtime::LoadedProgram& program,
                     const std::vector<CudaDevice*>& devices) {
  // Library, cause and what runs instead: instructions.
  std::map<std::tuple<std::string, std::string, std::string>, std::set<int>> by_cause;
  for (const CudaDevice* device : devices) {
    for (const Fallback& fallback : device->fallbacks())
      by_cause[{fallback.library, fallback.cause, fallback.as}].insert(fallback.instruction);
  }
  for (const auto& [why, instructions] : by_cause) {
    const size_t more = instructions.size() - 1;
    const auto& [library, cause, as] = why;
    std::cerr << "warning: without " << library << ", " << program.Describe(*instructions.begin())
              << (more == 0 ? " runs" : absl::StrCat(" and ", more, " more run")) << " as " << as
              << ", which is slower: " << cause << "\n";
  }
}

// A line where products run by the heuristics all the same.
void NoteUntuned(const Tuning& tuning) {
  const auto note = [](const char* what, const std::map<TunedCall, std::string>& calls) {
    if (calls.empty()) return;
    const auto& [call, why] = *calls.begin();
    std::cerr << "note: " << what << " " << call.call
              << (calls.size() == 1 ? "" : absl::StrCat(" and ", calls.size() - 1, " more"))
              << ": cuBLASLt's heuristics choose, as without --tune: " << why << "\n";
  };
  note("the library refuses the tuning's algorithm of", tuning.refused());
  note("the tuning cannot have an algorithm of", tuning.skipped());
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
  std::vector<CudaDevice*> devices;
  std::vector<std::vector<const CudaDevice*>> of_gpu(gpus);
  for (int device = 0; device < count; ++device) {
    auto made = std::make_unique<CudaDevice>(device, opened[gpu_of(device)], copy_seconds);
    devices.push_back(made.get());
    of_gpu[gpu_of(device)].push_back(made.get());
    fleet.devices.push_back(std::move(made));
    YUBA_RETURN_IF_ERROR(devices.back()->PlanLibraryCalls(program, layout, options.tuning.get()));
  }
  for (int number = 0; number < gpus; ++number)
    YUBA_RETURN_IF_ERROR(CheckMemory(*opened[number], of_gpu[number]));
  WarnOfFallbacks(program, devices);
  if (options.tuning != nullptr) NoteUntuned(*options.tuning);
  for (CudaDevice* device : devices) YUBA_RETURN_IF_ERROR(device->Prepare(program, layout));
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
                        CudaExchangeSteps::Make(devices, can_read, nccl));
  if (options.graphs) {
    YUBA_ASSIGN_OR_RETURN(fleet.recorder, GraphRecorder::Make(devices, steps.get()));
  }
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
