#ifdef YUBA_WITH_CUDA
#include "runtime/cuda/cuda_exchange_steps.h"

#include <set>

namespace yuba::cuda {
namespace {

constexpr int64_t kShortestRow = 512;  // bytes; shorter ones are slow on a GPU's copy engine

}  // namespace

CudaExchangeSteps::CudaExchangeSteps(std::vector<CudaDevice*> devices, const Nccl* nccl)
    : devices_(std::move(devices)), nccl_library_(nccl) {
  for (size_t d = 0; d < devices_.size(); ++d) own_.push_back(std::make_unique<Own>());
}

absl::StatusOr<std::unique_ptr<CudaExchangeSteps>> CudaExchangeSteps::Make(
    std::vector<CudaDevice*> devices, const Nccl* nccl) {
  std::unique_ptr<CudaExchangeSteps> made(new CudaExchangeSteps(std::move(devices), nccl));
  for (size_t d = 0; d < made->devices_.size(); ++d) {
    YUBA_RETURN_IF_ERROR(made->devices_[d]->gpu().Enter());
    YUBA_CUDA(cudaEventCreateWithFlags(&made->own_[d]->arrived, cudaEventDisableTiming));
    YUBA_CUDA(cudaEventCreateWithFlags(&made->own_[d]->departed, cudaEventDisableTiming));
  }
  return made;
}

CudaExchangeSteps::~CudaExchangeSteps() {
  for (CudaDevice* device : devices_) {
    if (device->gpu().Enter().ok()) cudaStreamSynchronize(device->stream());
  }
  for (const auto& own : own_) {
    for (cudaEvent_t event : {own->arrived, own->departed}) {
      if (event != nullptr) cudaEventDestroy(event);
    }
  }
}

absl::Status CudaExchangeSteps::Prepare(const std::vector<runtime::ExchangePlan>& plans) {
  std::set<std::vector<int>> groups;
  for (size_t d = 0; d < devices_.size(); ++d) {
    YUBA_RETURN_IF_ERROR(devices_[d]->gpu().Enter());
    Own& own = *own_[d];
    std::vector<int64_t> jobs;
    own.prepared.resize(plans.size());
    for (size_t p = 0; p < plans.size(); ++p) {
      if (plans[p].devices.empty()) continue;
      own.prepared[p] = PrepareOne(static_cast<int>(d), plans[p], jobs);
      if (own.prepared[p].nccl.has_value()) groups.insert(own.prepared[p].nccl->group.members);
    }
    YUBA_RETURN_IF_ERROR(own.jobs.Store(jobs, devices_[d]->stream()));
  }
  if (groups.empty()) return absl::OkStatus();
  YUBA_ASSIGN_OR_RETURN(nccl_, NcclCommunicators::Make(*nccl_library_, devices_, groups));
  devices_[0]->AddLibraryMemory(nccl_->memory_bytes());
  return absl::OkStatus();
}

absl::Status CudaExchangeSteps::Check() {
  return nccl_ == nullptr ? absl::OkStatus() : nccl_->Check();
}

void CudaExchangeSteps::EndWork() {
  if (nccl_ != nullptr) nccl_->EndWork();
}

void CudaExchangeSteps::Reset() {
  if (nccl_ != nullptr) nccl_->Reset();
}

absl::Status CudaExchangeSteps::Arrive(int device) {
  YUBA_RETURN_IF_ERROR(devices_[device]->gpu().Enter());
  YUBA_CUDA(cudaEventRecord(own_[device]->arrived, devices_[device]->stream()));
  return absl::OkStatus();
}

absl::Status CudaExchangeSteps::Depart(int device, int instruction,
                                       const runtime::ExchangePlan& plan) {
  YUBA_RETURN_IF_ERROR(devices_[device]->gpu().Enter());
  for (int reader : plan.devices[device].readers) {
    YUBA_CUDA(cudaStreamWaitEvent(devices_[device]->stream(), own_[reader]->departed, 0));
  }
  return devices_[device]->Started(instruction);
}

absl::Status CudaExchangeSteps::Copy(int device, int instruction,
                                     const runtime::ExchangePlan& plan) {
  CudaDevice& own = *devices_[device];
  YUBA_RETURN_IF_ERROR(own.gpu().Enter());
  const Prepared& prepared = own_[device]->prepared[instruction];
  for (int source : plan.devices[device].sources) {
    YUBA_CUDA(cudaStreamWaitEvent(own.stream(), own_[source]->arrived, 0));
  }
  if (prepared.nccl.has_value()) {
    YUBA_RETURN_IF_ERROR(nccl_->Start(device, instruction, *prepared.nccl));
  }
  for (const Work& work : prepared.work) YUBA_RETURN_IF_ERROR(Start(device, work));
  YUBA_CUDA(cudaEventRecord(own_[device]->departed, own.stream()));
  return absl::OkStatus();
}

absl::Status CudaExchangeSteps::Start(int device, const Work& work) {
  const CudaDevice& own = *devices_[device];
  const RowCopy& rows = work.rows;
  if (!rows.possible) {
    return own.gpu().LaunchJob(own_[device]->jobs.numbers() + work.job, work.elements,
                               own.stream());
  }
  if (rows.rows == 1) {  // of any length; rows of a matrix have a limit
    YUBA_CUDA(cudaMemcpyAsync(work.to, work.from, rows.row_bytes, cudaMemcpyDefault, own.stream()));
    return absl::OkStatus();
  }
  YUBA_CUDA(cudaMemcpy2DAsync(work.to, rows.to_pitch, work.from, rows.from_pitch, rows.row_bytes,
                              rows.rows, cudaMemcpyDefault, own.stream()));
  return absl::OkStatus();
}

CudaExchangeSteps::Prepared CudaExchangeSteps::PrepareOne(int device,
                                                          const runtime::ExchangePlan& plan,
                                                          std::vector<int64_t>& jobs) const {
  Prepared prepared;
  if (nccl_library_ != nullptr) prepared.nccl = NcclCallOf(plan, device);
  if (prepared.nccl.has_value() &&
      (nccl_library_->may_share_gpus || OnDifferentGpus(prepared.nccl->group.members)))
    return prepared;
  prepared.nccl.reset();

  char* const result = devices_[device]->arena() + plan.destination_offset;
  auto source_of = [&](int source) { return devices_[source]->arena() + plan.source_offset; };
  for (const runtime::Piece& piece : plan.devices[device].pieces) {
    if (piece.walk.elements() == 0) continue;
    Work work;
    work.rows = AsRows(piece.walk, plan.source_element_bytes);
    if (work.rows.rows > 1 && work.rows.row_bytes < kShortestRow) work.rows.possible = false;
    work.from = source_of(piece.source) + work.rows.from;
    work.to = result + work.rows.to;
    work.job = jobs.size();
    work.elements = piece.walk.elements();
    if (!work.rows.possible) {
      const std::vector<int64_t> job =
          CopyJob(piece.walk, source_of(piece.source), result, plan.source_element_bytes);
      jobs.insert(jobs.end(), job.begin(), job.end());
    }
    prepared.work.push_back(work);
  }
  for (const runtime::Cell& cell : plan.devices[device].cells) {
    Work work;
    work.job = jobs.size();
    work.elements = cell.walk.elements();
    std::vector<const char*> partials;
    for (int source : cell.sources) partials.push_back(source_of(source));
    const std::vector<int64_t> job = CombineJob(plan.combination, cell.walk, partials, result);
    jobs.insert(jobs.end(), job.begin(), job.end());
    prepared.work.push_back(work);
  }
  return prepared;
}

bool CudaExchangeSteps::OnDifferentGpus(const std::vector<int>& members) const {
  std::set<int> gpus;
  for (int member : members) gpus.insert(devices_[member]->gpu().number());
  return gpus.size() == members.size();
}

}  // namespace yuba::cuda

#endif  // YUBA_WITH_CUDA
