#include "runtime/cuda/cuda_backend.h"

#include <algorithm>
#include <iostream>
#include <string>

#include "opsemantics/base/status.h"
#include "runtime/cuda/facts.h"
#ifdef YUBA_WITH_CUDA
#include "runtime/cuda/cuda_exchange_steps.h"
#include "runtime/cuda/graph_recorder.h"
#include "runtime/cuda/nccl_communicator.h"
#include "runtime/cuda/open_devices.h"
#include "runtime/cuda/rank_gpus.h"
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

// The device of this rank, on a GPU of its own.
absl::Status OpenRank(const runtime::LoadedProgram& program, const runtime::ArenaLayout& layout,
                      const CudaOptions& options, double seconds,
                      const std::vector<GpuFacts>& found, runtime::Job& job,
                      runtime::Fleet& fleet) {
  if (options.nccl != NcclChoice::kFound || options.staged) {
    return UserError(
        "--exchanges copies, strict and staged are for GPUs of one process: ranks on "
        "GPUs exchange through NCCL");
  }
  const int local_rank =
      options.local_rank >= 0 ? options.local_rank : LocalRankOf(job.ranks(), job.rank());
  const RankGpu own = ChooseGpu(found, local_rank, options.share_gpu);
  YUBA_ASSIGN_OR_RETURN(const std::vector<RankGpu> gpus, GatherGpus(job, own));
  YUBA_RETURN_IF_ERROR(CheckGpus(job.ranks(), gpus, options.share_gpu));
  const std::string note = NoteOnGpus(job.ranks(), gpus);
  if (!note.empty()) std::cerr << "note: " << note << "\n";
  if (options.share_gpu) PretendOwnHost(job.rank());
  std::vector<int> gpu_of(program.devices(), -1);
  gpu_of[job.rank()] = own.number;
  YUBA_ASSIGN_OR_RETURN(const std::vector<CudaDevice*> devices,
                        OpenDevices(program, layout, options, seconds, gpu_of, fleet));
  fleet.communicator = std::make_unique<NcclCommunicator>(job, *devices[0], seconds);
  if (!options.graphs) return absl::OkStatus();
  YUBA_ASSIGN_OR_RETURN(fleet.recorder, GraphRecorder::Make(devices, [] { return ""; }));
  return absl::OkStatus();
}

}  // namespace

absl::Status OpenCudaBackend(const runtime::LoadedProgram& program,
                             const runtime::ArenaLayout& layout, const CudaOptions& options,
                             double copy_seconds, runtime::Job* job, runtime::Fleet& fleet) {
  YUBA_ASSIGN_OR_RETURN(const std::vector<GpuFacts> found, FindGpus());
  if (job != nullptr) return OpenRank(program, layout, options, copy_seconds, found, *job, fleet);
  const int count = program.devices();
  const int gpus = std::min(static_cast<int>(found.size()), count);
  YUBA_ASSIGN_OR_RETURN(const std::vector<std::vector<bool>> connected, ConnectGpus(gpus));
  std::vector<int> gpu_of;
  for (int device = 0; device < count; ++device)
    gpu_of.push_back(static_cast<int>(int64_t{device} * gpus / count));
  YUBA_ASSIGN_OR_RETURN(const std::vector<CudaDevice*> devices,
                        OpenDevices(program, layout, options, copy_seconds, gpu_of, fleet));
  const Nccl* nccl = options.nccl == NcclChoice::kStrict ? &StrictNccl() : nullptr;
  if (options.nccl == NcclChoice::kFound && gpus > 1) {
    const absl::StatusOr<const Nccl*> library = Nccl::Open();
    if (library.ok()) nccl = *library;  // without it GPUs copy from each other
  }
  const auto can_read = [=](int reader, int source) {
    return reader == source || (!options.staged && connected[gpu_of[reader]][gpu_of[source]]);
  };
  const int instructions = static_cast<int>(program.instructions().size());
  YUBA_ASSIGN_OR_RETURN(std::unique_ptr<CudaExchangeSteps> steps,
                        CudaExchangeSteps::Make(devices, can_read, nccl));
  if (options.graphs) {
    const auto why_not = [made = steps.get()] {
      return made->uses_nccl() ? "exchanges go through NCCL" : "";
    };
    YUBA_ASSIGN_OR_RETURN(fleet.recorder, GraphRecorder::Make(devices, why_not));
  }
  fleet.communicator =
      std::make_unique<runtime::ExchangeProtocol>(std::move(steps), count, instructions);
  return absl::OkStatus();
}

#else

absl::Status OpenCudaBackend(const runtime::LoadedProgram&, const runtime::ArenaLayout&,
                             const CudaOptions&, double, runtime::Job*, runtime::Fleet&) {
  return FindGpus().status();
}

#endif  // YUBA_WITH_CUDA

}  // namespace yuba::cuda
