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
#include "runtime/cuda/nccl_sums.h"
#include "runtime/cuda/open_devices.h"
#include "runtime/cuda/rank_gpus.h"
#include "runtime/exchange_protocol.h"
#endif

namespace yuba::cuda {

#ifdef YUBA_WITH_CUDA

namespace {

// The device of this rank, on a GPU of its own.
absl::Status OpenRank(const runtime::LoadedProgram& program, const runtime::ArenaLayout& layout,
                      const CudaOptions& options, double seconds,
                      const std::vector<GpuFacts>& found, runtime::Job& job,
                      runtime::Fleet& fleet) {
  const Sums sums = options.sums.value_or(Sums::kRepeatable);
  YUBA_RETURN_IF_ERROR(job.MustAgree(static_cast<uint64_t>(sums), "value of --sums"));
  const int local_rank =
      options.local_rank >= 0 ? options.local_rank : LocalRankOf(job.ranks(), job.rank());
  const RankGpu own = ChooseGpu(found, local_rank, options.share_gpu);
  YUBA_ASSIGN_OR_RETURN(const std::vector<RankGpu> gpus, GatherGpus(job, own));
  YUBA_RETURN_IF_ERROR(CheckGpus(job.ranks(), gpus, options.share_gpu));
  const std::string note = NoteOnGpus(job.ranks(), gpus);
  if (!note.empty()) std::cerr << "note: " << note << "\n";
  if (options.share_gpu) PretendOwnHost(job.rank());
  const std::string warning = SetNcclEnvironment(sums);
  if (!warning.empty()) std::cerr << "warning: " << warning << "\n";
  std::vector<int> gpu_of(program.devices(), -1);
  gpu_of[job.rank()] = own.number;
  YUBA_ASSIGN_OR_RETURN(const std::vector<CudaDevice*> devices,
                        OpenDevices(program, layout, options, seconds, gpu_of, fleet));
  YUBA_RETURN_IF_ERROR(devices[0]->UseTwoStreams(program));
  fleet.communicator = std::make_unique<NcclCommunicator>(job, *devices[0], sums, seconds);
  if (!options.graphs) return absl::OkStatus();
  YUBA_ASSIGN_OR_RETURN(fleet.recorder, GraphRecorder::Make(devices));
  return absl::OkStatus();
}

}  // namespace

absl::Status OpenCudaBackend(const runtime::LoadedProgram& program,
                             const runtime::ArenaLayout& layout, const CudaOptions& options,
                             double copy_seconds, runtime::Job* job, runtime::Fleet& fleet) {
  YUBA_ASSIGN_OR_RETURN(const std::vector<GpuFacts> found, FindGpus());
  if (job != nullptr) return OpenRank(program, layout, options, copy_seconds, found, *job, fleet);
  if (program.devices() > 1 && options.sums.value_or(Sums::kOrdered) != Sums::kOrdered) {
    return UserError("--sums ", Name(*options.sums), " is for ranks on GPUs, which add up through ",
                     "NCCL: devices of one process always add up in the order of the partials");
  }
  const int count = program.devices();
  YUBA_ASSIGN_OR_RETURN(
      const std::vector<CudaDevice*> devices,
      OpenDevices(program, layout, options, copy_seconds, std::vector<int>(count, 0), fleet));
  YUBA_ASSIGN_OR_RETURN(std::unique_ptr<CudaExchangeSteps> steps, CudaExchangeSteps::Make(devices));
  if (options.graphs) {
    YUBA_ASSIGN_OR_RETURN(fleet.recorder, GraphRecorder::Make(devices));
  }
  fleet.communicator = std::make_unique<runtime::ExchangeProtocol>(
      std::move(steps), count, static_cast<int>(program.instructions().size()));
  return absl::OkStatus();
}

#else

absl::Status OpenCudaBackend(const runtime::LoadedProgram&, const runtime::ArenaLayout&,
                             const CudaOptions&, double, runtime::Job*, runtime::Fleet&) {
  return FindGpus().status();
}

#endif  // YUBA_WITH_CUDA

}  // namespace yuba::cuda
