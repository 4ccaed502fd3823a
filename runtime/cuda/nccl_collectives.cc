#ifdef YUBA_WITH_CUDA
#include "runtime/cuda/nccl_collectives.h"

#include <utility>

#include "opsemantics/base/check.h"
#include "opsemantics/base/collectives.h"

namespace yuba::cuda {
namespace {

ncclResult_t EnqueueAllGather(const Nccl& nccl, const char* from, char* to, int64_t bytes,
                              ncclComm_t communicator, cudaStream_t stream) {
  return nccl.ncclAllGather(from, to, bytes, ncclInt8, communicator, stream);
}

constexpr NcclCollective kNcclCollectives[] = {
    {"all_gather", AllGatherOf, EnqueueAllGather},
};

}  // namespace

absl::optional<NcclCall> NcclCallOf(const runtime::ExchangePlan& plan, int device) {
  for (const NcclCollective& row : kNcclCollectives) {
    const absl::optional<GroupCall> group = row.call_of(plan, device);
    if (group.has_value()) return NcclCall{&row, *group};
  }
  return absl::nullopt;
}

NcclCommunicators::NcclCommunicators(const Nccl& nccl, std::vector<CudaDevice*> devices)
    : nccl_(nccl), devices_(std::move(devices)) {
  for (const NcclCollective& row : kNcclCollectives) YUBA_CHECK(CollectiveNumber(row.name) > 0);
}

absl::Status NcclCommunicators::Start(int device, int instruction, const NcclCall& call) {
  std::lock_guard<std::mutex> lock(mutex_);
  Round& round = rounds_[{instruction, call.group.members[0]}];
  int64_t& joined = round.joined[device];
  if (joined == round.started) {
    YUBA_RETURN_IF_ERROR(StartAll(call));
    ++round.started;
  }
  ++joined;
  return devices_[device]->gpu().Enter();  // NCCL's calls change it
}

absl::Status NcclCommunicators::StartAll(const NcclCall& call) {
  const GroupCall& group = call.group;
  YUBA_ASSIGN_OR_RETURN(const std::vector<ncclComm_t> communicators,
                        CommunicatorsOf(group.members));
  YUBA_CUDA(nccl_.ncclGroupStart());
  absl::Status status;
  for (size_t i = 0; i < group.members.size() && status.ok(); ++i) {
    CudaDevice& member = *devices_[group.members[i]];
    status = CallStatus(call.collective->enqueue(nccl_, member.arena() + group.from[i],
                                                 member.arena() + group.to[i], group.bytes,
                                                 communicators[i], member.stream()),
                        call.collective->name, __FILE__, __LINE__);
  }
  YUBA_CUDA(nccl_.ncclGroupEnd());
  return status;
}

absl::StatusOr<std::vector<ncclComm_t>> NcclCommunicators::CommunicatorsOf(
    const std::vector<int>& members) {
  std::vector<ncclComm_t>& communicators = communicators_[members];
  if (communicators.empty()) {
    std::vector<int> gpus;
    for (int member : members) gpus.push_back(devices_[member]->gpu().number());
    std::vector<ncclComm_t> made(members.size());
    YUBA_CUDA(nccl_.ncclCommInitAll(made.data(), static_cast<int>(gpus.size()), gpus.data()));
    communicators = std::move(made);
  }
  return communicators;
}

void NcclCommunicators::Abort() {
  std::lock_guard<std::mutex> lock(mutex_);
  for (const auto& [members, communicators] : communicators_) {
    for (ncclComm_t communicator : communicators) nccl_.ncclCommAbort(communicator);
  }
  communicators_.clear();
  rounds_.clear();
}

}  // namespace yuba::cuda

#endif  // YUBA_WITH_CUDA
