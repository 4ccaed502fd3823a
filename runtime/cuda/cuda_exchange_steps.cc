#ifdef YUBA_WITH_CUDA
#include "runtime/cuda/cuda_exchange_steps.h"

#include <set>

namespace yuba::cuda {

CudaExchangeSteps::CudaExchangeSteps(std::vector<CudaDevice*> devices, int instructions)
    : devices_(std::move(devices)),
      arrived_(devices_.size()),
      departed_(devices_.size()),
      prepared_(devices_.size()) {
  for (auto& by_instruction : prepared_) by_instruction.resize(instructions);
}

absl::StatusOr<std::unique_ptr<CudaExchangeSteps>> CudaExchangeSteps::Make(
    std::vector<CudaDevice*> devices, int instructions, const Nccl* nccl) {
  std::unique_ptr<CudaExchangeSteps> made(new CudaExchangeSteps(std::move(devices), instructions));
  for (size_t d = 0; d < made->devices_.size(); ++d) {
    YUBA_RETURN_IF_ERROR(made->devices_[d]->gpu().Enter());
    YUBA_CUDA(cudaEventCreateWithFlags(&made->arrived_[d], cudaEventDisableTiming));
    YUBA_CUDA(cudaEventCreateWithFlags(&made->departed_[d], cudaEventDisableTiming));
  }
  if (nccl != nullptr) made->nccl_ = std::make_unique<NcclCommunicators>(*nccl, made->devices_);
  return made;
}

CudaExchangeSteps::~CudaExchangeSteps() {
  for (CudaDevice* device : devices_) {
    if (device->gpu().Enter().ok()) cudaStreamSynchronize(device->stream());
  }
  for (const auto& events : {arrived_, departed_}) {
    for (cudaEvent_t event : events) {
      if (event != nullptr) cudaEventDestroy(event);
    }
  }
}

void CudaExchangeSteps::Abort() {
  if (nccl_ != nullptr) nccl_->Abort();
}

absl::Status CudaExchangeSteps::Arrive(int device) {
  YUBA_RETURN_IF_ERROR(devices_[device]->gpu().Enter());
  YUBA_CUDA(cudaEventRecord(arrived_[device], devices_[device]->stream()));
  return absl::OkStatus();
}

absl::Status CudaExchangeSteps::Depart(int device, const runtime::ExchangePlan& plan) {
  YUBA_RETURN_IF_ERROR(devices_[device]->gpu().Enter());
  for (int reader : plan.devices[device].readers) {
    YUBA_CUDA(cudaStreamWaitEvent(devices_[device]->stream(), departed_[reader], 0));
  }
  return absl::OkStatus();
}

absl::Status CudaExchangeSteps::Copy(int device, int instruction,
                                     const runtime::ExchangePlan& plan) {
  CudaDevice& own = *devices_[device];
  YUBA_RETURN_IF_ERROR(own.gpu().Enter());
  std::unique_ptr<Prepared>& prepared = prepared_[device][instruction];
  if (prepared == nullptr) {
    YUBA_ASSIGN_OR_RETURN(prepared, Prepare(device, plan));
  }
  for (int source : plan.devices[device].sources) {
    YUBA_CUDA(cudaStreamWaitEvent(own.stream(), arrived_[source], 0));
  }
  if (prepared->nccl.has_value()) {
    YUBA_RETURN_IF_ERROR(nccl_->Start(device, instruction, *prepared->nccl));
  }
  for (const Work& work : prepared->work) {
    if (work.rows.possible) {
      YUBA_CUDA(cudaMemcpy2DAsync(work.to, work.rows.to_pitch, work.from, work.rows.from_pitch,
                                  work.rows.row_bytes, work.rows.rows, cudaMemcpyDefault,
                                  own.stream()));
    } else {
      YUBA_RETURN_IF_ERROR(
          own.gpu().LaunchJob(prepared->jobs.numbers() + work.job, work.elements, own.stream()));
    }
  }
  YUBA_CUDA(cudaEventRecord(departed_[device], own.stream()));
  return absl::OkStatus();
}

absl::StatusOr<std::unique_ptr<CudaExchangeSteps::Prepared>> CudaExchangeSteps::Prepare(
    int device, const runtime::ExchangePlan& plan) const {
  auto prepared = std::make_unique<Prepared>();
  if (nccl_ != nullptr) prepared->nccl = NcclCallOf(plan, device);
  if (prepared->nccl.has_value() && OnDifferentGpus(prepared->nccl->group.members)) return prepared;
  prepared->nccl.reset();

  char* const result = devices_[device]->arena() + plan.destination_offset;
  auto source_of = [&](int source) { return devices_[source]->arena() + plan.source_offset; };
  std::vector<int64_t> jobs;
  for (const runtime::Piece& piece : plan.devices[device].pieces) {
    if (piece.walk.elements() == 0) continue;
    Work work;
    work.rows = AsRows(piece.walk, plan.source_element_bytes);
    work.from = source_of(piece.source) + work.rows.from;
    work.to = result + work.rows.to;
    work.job = jobs.size();
    work.elements = piece.walk.elements();
    if (!work.rows.possible) {
      const std::vector<int64_t> job =
          CopyJob(piece.walk, source_of(piece.source), result, plan.source_element_bytes);
      jobs.insert(jobs.end(), job.begin(), job.end());
    }
    prepared->work.push_back(work);
  }
  for (const runtime::Cell& cell : plan.devices[device].cells) {
    Work work;
    work.job = jobs.size();
    work.elements = cell.walk.elements();
    std::vector<const char*> partials;
    for (int source : cell.sources) partials.push_back(source_of(source));
    const std::vector<int64_t> job = CombineJob(plan.combination, cell.walk, partials, result);
    jobs.insert(jobs.end(), job.begin(), job.end());
    prepared->work.push_back(work);
  }
  YUBA_RETURN_IF_ERROR(prepared->jobs.Store(jobs, devices_[device]->stream()));
  return prepared;
}

bool CudaExchangeSteps::OnDifferentGpus(const std::vector<int>& members) const {
  std::set<int> gpus;
  for (int member : members) gpus.insert(devices_[member]->gpu().number());
  return gpus.size() == members.size();
}

}  // namespace yuba::cuda

#endif  // YUBA_WITH_CUDA
