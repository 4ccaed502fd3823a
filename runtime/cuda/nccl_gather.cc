#ifdef YUBA_WITH_CUDA
#include "runtime/cuda/nccl_gather.h"

namespace yuba::cuda {

absl::Status NcclGather::Start(int device, int instruction, const Gather& gather) {
  std::lock_guard<std::mutex> lock(mutex_);
  Round& round = rounds_[{instruction, gather.members[0]}];
  int64_t& joined = round.joined[device];
  if (joined == round.started) {
    YUBA_RETURN_IF_ERROR(StartAll(gather));
    ++round.started;
  }
  ++joined;
  return devices_[device]->gpu().Enter();  // NCCL's calls change it
}

absl::Status NcclGather::StartAll(const Gather& gather) {
  YUBA_ASSIGN_OR_RETURN(const std::vector<ncclComm_t> communicators,
                        CommunicatorsOf(gather.members));
  YUBA_CUDA(nccl_.ncclGroupStart());
  absl::Status status;
  for (size_t i = 0; i < gather.members.size() && status.ok(); ++i) {
    CudaDevice& member = *devices_[gather.members[i]];
    status = CallStatus(
        nccl_.ncclAllGather(member.arena() + gather.from[i], member.arena() + gather.to[i],
                            gather.bytes, ncclInt8, communicators[i], member.stream()),
        "ncclAllGather", __FILE__, __LINE__);
  }
  YUBA_CUDA(nccl_.ncclGroupEnd());
  return status;
}

absl::StatusOr<std::vector<ncclComm_t>> NcclGather::CommunicatorsOf(
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

void NcclGather::Abort() {
  std::lock_guard<std::mutex> lock(mutex_);
  for (const auto& [members, communicators] : communicators_) {
    for (ncclComm_t communicator : communicators) nccl_.ncclCommAbort(communicator);
  }
  communicators_.clear();
  rounds_.clear();
}

}  // namespace yuba::cuda

#endif  // YUBA_WITH_CUDA
