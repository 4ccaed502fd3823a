#ifdef YUBA_WITH_CUDA
#include "runtime/cuda/cuda_exchange_steps.h"

#include <algorithm>
#include <map>
#include <set>

#include "absl/strings/str_format.h"

namespace yuba::cuda {
CudaExchangeSteps::CudaExchangeSteps(std::vector<CudaDevice*> devices, CanRead can_read,
                                     const Nccl* nccl)
    : devices_(std::move(devices)), can_read_(std::move(can_read)), nccl_library_(nccl) {
  for (size_t d = 0; d < devices_.size(); ++d) own_.push_back(std::make_unique<Own>());
}

absl::StatusOr<std::unique_ptr<CudaExchangeSteps>> CudaExchangeSteps::Make(
    std::vector<CudaDevice*> devices, CanRead can_read, const Nccl* nccl) {
  std::unique_ptr<CudaExchangeSteps> made(
      new CudaExchangeSteps(std::move(devices), std::move(can_read), nccl));
  for (size_t d = 0; d < made->devices_.size(); ++d) {
    YUBA_RETURN_IF_ERROR(made->devices_[d]->gpu().Enter());
    YUBA_CUDA(cudaEventCreateWithFlags(&made->own_[d]->arrived, cudaEventDisableTiming));
    YUBA_CUDA(cudaEventCreateWithFlags(&made->own_[d]->departed, cudaEventDisableTiming));
  }
  return made;
}

CudaExchangeSteps::~CudaExchangeSteps() {
  nccl_.reset();
  for (CudaDevice* device : devices_) {
    if (device->gpu().Enter().ok()) cudaStreamSynchronize(device->stream());
  }
  for (const auto& own : own_) {
    for (cudaEvent_t event : {own->arrived, own->departed}) {
      if (event != nullptr) cudaEventDestroy(event);
    }
  }
}

// Whether the devices' GPUs have room for these bytes, [device], before they are allocated.
absl::Status CudaExchangeSteps::CheckRoom(const std::vector<int64_t>& bytes) const {
  std::map<int, int64_t> needs;  // by GPU
  for (size_t d = 0; d < devices_.size(); ++d) needs[devices_[d]->gpu().number()] += bytes[d];
  for (const CudaDevice* device : devices_) {
    const Gpu& gpu = device->gpu();
    size_t free = 0, total = 0;
    YUBA_RETURN_IF_ERROR(gpu.Enter());
    YUBA_CUDA(cudaMemGetInfo(&free, &total));
    if (needs[gpu.number()] <= static_cast<int64_t>(free)) continue;
    return absl::ResourceExhaustedError(absl::StrFormat(
        "GPU %d has %.1f MB free besides its arenas, and exchanges through the host need %.1f MB: "
        "plan the model with a smaller --memory, or for more devices",
        gpu.number(), 1e-6 * static_cast<double>(free),
        1e-6 * static_cast<double>(needs[gpu.number()])));
  }
  return absl::OkStatus();
}

absl::StatusOr<std::vector<runtime::Staging>> CudaExchangeSteps::PrepareStaging(
    const std::vector<runtime::ExchangePlan>& plans) {
  std::vector<runtime::Staging> staging;
  std::vector<int64_t> sent(devices_.size()), received(devices_.size());
  for (size_t p = 0; p < plans.size(); ++p) {
    const runtime::ExchangePlan& plan = plans[p];
    staging.push_back(runtime::StagingOf(plan, [&](int reader, int source) {
      return can_read_(reader, source) || own_[reader]->prepared[p].nccl.has_value();
    }));
    for (size_t d = 0; d < plan.devices.size(); ++d) {
      sent[d] = std::max(sent[d], staging.back().sent_bytes[d]);
      received[d] = std::max(received[d], staging.back().received_bytes[d]);
    }
  }
  std::vector<int64_t> both(devices_.size());
  for (size_t d = 0; d < devices_.size(); ++d) both[d] = sent[d] + received[d];
  YUBA_RETURN_IF_ERROR(CheckRoom(both));
  for (size_t d = 0; d < devices_.size(); ++d) {
    YUBA_RETURN_IF_ERROR(devices_[d]->gpu().Enter());
    if (sent[d] > 0) YUBA_RETURN_IF_ERROR(own_[d]->send_buffer.Allocate(sent[d]));
    if (received[d] > 0) YUBA_RETURN_IF_ERROR(own_[d]->receive_buffer.Allocate(received[d]));
    devices_[d]->AddLibraryMemory(both[d]);
  }
  return staging;
}

absl::Status CudaExchangeSteps::Prepare(const std::vector<runtime::ExchangePlan>& plans) {
  std::set<std::vector<int>> groups;
  for (const auto& own : own_) own->prepared.resize(plans.size());
  for (size_t p = 0; p < plans.size() && nccl_library_ != nullptr; ++p) {
    for (size_t d = 0; d < plans[p].devices.size(); ++d) {
      const absl::optional<NcclCall> call = NcclCallOf(plans[p], static_cast<int>(d));
      if (!call.has_value()) continue;
      if (!nccl_library_->may_share_gpus && !OnDifferentGpus(call->group.members)) continue;
      own_[d]->prepared[p].nccl = call;
      groups.insert(call->group.members);
    }
  }
  YUBA_ASSIGN_OR_RETURN(const std::vector<runtime::Staging> staging, PrepareStaging(plans));
  for (size_t p = 0; p < plans.size(); ++p) {
    for (size_t d = 0; d < plans[p].devices.size(); ++d) {
      if (own_[d]->prepared[p].nccl.has_value()) continue;
      PrepareCopies(static_cast<int>(d), static_cast<int>(p), plans[p], staging[p]);
    }
  }
  for (size_t d = 0; d < devices_.size(); ++d) {
    YUBA_RETURN_IF_ERROR(devices_[d]->gpu().Enter());
    YUBA_RETURN_IF_ERROR(own_[d]->work.Store(devices_[d]->stream()));
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

absl::Status CudaExchangeSteps::Arrive(int device, int instruction) {
  YUBA_RETURN_IF_ERROR(devices_[device]->gpu().Enter());
  YUBA_RETURN_IF_ERROR(Start(device, own_[device]->prepared[instruction].pack));
  YUBA_CUDA(cudaEventRecord(own_[device]->arrived, devices_[device]->stream()));
  return absl::OkStatus();
}

absl::Status CudaExchangeSteps::Depart(int device, int instruction,
                                       const runtime::ExchangePlan& plan) {
  YUBA_RETURN_IF_ERROR(devices_[device]->gpu().Enter());
  for (int reader : plan.devices[device].readers) {
    YUBA_CUDA(cudaStreamWaitEvent(devices_[device]->stream(), own_[reader]->departed, 0));
  }
  return devices_[device]->StartedExchange(instruction);
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
  for (const runtime::Fetch& fetch : prepared.fetches) {
    YUBA_CUDA(
        cudaMemcpyPeerAsync(own_[device]->receive_buffer.data() + fetch.to, own.gpu().number(),
                            own_[fetch.source]->send_buffer.data() + fetch.from,
                            devices_[fetch.source]->gpu().number(), fetch.bytes, own.stream()));
  }
  YUBA_RETURN_IF_ERROR(Start(device, prepared.work));
  YUBA_CUDA(cudaEventRecord(own_[device]->departed, own.stream()));
  return absl::OkStatus();
}

absl::Status CudaExchangeSteps::Start(int device, const std::vector<ExchangeWork::Part>& parts) {
  const CudaDevice& own = *devices_[device];
  for (const ExchangeWork::Part& part : parts) {
    YUBA_RETURN_IF_ERROR(own_[device]->work.Start(part, own.gpu(), own.stream()));
  }
  return absl::OkStatus();
}

void CudaExchangeSteps::PrepareCopies(int device, int instruction,
                                      const runtime::ExchangePlan& plan,
                                      const runtime::Staging& staging) {
  Prepared& prepared = own_[device]->prepared[instruction];
  char* const result = devices_[device]->arena() + plan.destination_offset;
  prepared.fetches = staging.fetches[device];
  auto fetch = prepared.fetches.begin();
  // Where the elements of buffer number `buffer` of the walk are for this device: in the source's
  // arena, or in its own receive buffer, where the walk has them side by side then.
  const auto reach = [&](int source, runtime::BoxWalk& walk, size_t buffer) -> const char* {
    const char* const arena = devices_[source]->arena() + plan.source_offset;
    if (walk.elements() == 0 || can_read_(device, source)) return arena;
    runtime::BoxWalk packing = walk;
    packing.buffers = {walk.buffers[buffer], walk.buffers[buffer]};
    own_[source]->prepared[instruction].pack.push_back(own_[source]->work.Copy(
        runtime::Packed(packing, 1), arena, own_[source]->send_buffer.data() + fetch->from,
        plan.source_element_bytes));
    walk = runtime::Packed(std::move(walk), buffer);
    return own_[device]->receive_buffer.data() + fetch++->to;
  };
  for (const runtime::Piece& piece : plan.devices[device].pieces) {
    if (piece.walk.elements() == 0) continue;
    runtime::BoxWalk walk = piece.walk;
    const char* const source = reach(piece.source, walk, 0);
    prepared.work.push_back(
        own_[device]->work.Copy(walk, source, result, plan.source_element_bytes));
  }
  for (const runtime::Cell& cell : plan.devices[device].cells) {
    runtime::BoxWalk walk = cell.walk;
    std::vector<const char*> partials;
    for (size_t i = 0; i < cell.sources.size(); ++i) {
      partials.push_back(reach(cell.sources[i], walk, i));
    }
    prepared.work.push_back(own_[device]->work.Combine(plan.combination, walk, partials, result));
  }
}

bool CudaExchangeSteps::OnDifferentGpus(const std::vector<int>& members) const {
  std::set<int> gpus;
  for (int member : members) gpus.insert(devices_[member]->gpu().number());
  return gpus.size() == members.size();
}

}  // namespace yuba::cuda

#endif  // YUBA_WITH_CUDA
