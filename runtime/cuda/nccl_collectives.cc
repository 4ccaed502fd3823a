#ifdef YUBA_WITH_CUDA
#include "runtime/cuda/nccl_collectives.h"

#include <algorithm>
#include <chrono>
#include <thread>
#include <utility>

#include "opsemantics/base/check.h"
#include "opsemantics/base/collectives.h"

namespace yuba::cuda {
namespace {

ncclResult_t EnqueueAllGather(const Nccl& nccl, const char* from, char* to, int64_t bytes,
                              ncclComm_t communicator, cudaStream_t stream) {
  return nccl.ncclAllGather(from, to, bytes, ncclInt8, communicator, stream);
}

absl::Status NcclStatus(const Nccl& nccl, ncclResult_t result, const char* call) {
  if (result == ncclSuccess) return absl::OkStatus();
  return absl::InternalError(absl::StrCat(nccl.ncclGetErrorString(result), " (", call, ")"));
}

// Bytes; of the calling thread's GPU, which this GPU becomes.
int64_t FreeMemory(int gpu) {
  size_t free = 0, total = 0;
  if (cudaSetDevice(gpu) != cudaSuccess || cudaMemGetInfo(&free, &total) != cudaSuccess) return 0;
  return static_cast<int64_t>(free);
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

absl::StatusOr<std::unique_ptr<NcclCommunicators>> NcclCommunicators::Make(
    const Nccl& nccl, std::vector<CudaDevice*> devices, const std::set<std::vector<int>>& groups) {
  for (const NcclCollective& row : kNcclCollectives) YUBA_CHECK(CollectiveNumber(row.name) > 0);
  std::unique_ptr<NcclCommunicators> made(new NcclCommunicators(nccl, std::move(devices)));
  for (const std::vector<int>& group : groups) made->communicators_[group];
  YUBA_RETURN_IF_ERROR(made->MakeAll());
  return made;
}

absl::Status NcclCommunicators::MakeAll() {
  memory_bytes_ = 0;
  for (auto& [members, communicators] : communicators_)
    communicators.assign(members.size(), nullptr);
  for (auto& [members, communicators] : communicators_) {
    std::vector<int> gpus;
    for (int member : members) gpus.push_back(devices_[member]->gpu().number());
    const int64_t free_before = FreeMemory(gpus[0]);
    const absl::Status made = NcclStatus(
        nccl_,
        nccl_.ncclCommInitAll(communicators.data(), static_cast<int>(gpus.size()), gpus.data()),
        "ncclCommInitAll");
    if (!made.ok()) {
      communicators.assign(members.size(), nullptr);
      AbortAll();
      return made;
    }
    memory_bytes_ += std::max<int64_t>(0, free_before - FreeMemory(gpus[0]));
  }
  ended_ = false;
  return absl::OkStatus();
}

void NcclCommunicators::AbortAll() {
  for (const auto& [members, communicators] : communicators_) {
    for (ncclComm_t communicator : communicators) {
      if (communicator != nullptr) nccl_.ncclCommAbort(communicator);
    }
  }
}

absl::Status NcclCommunicators::Start(int device, int instruction, const NcclCall& call) {
  std::lock_guard<std::mutex> lock(mutex_);
  if (failed_) return absl::CancelledError("the run has failed");
  if (ended_) YUBA_RETURN_IF_ERROR(MakeAll());
  if (failed_) return absl::CancelledError("the run has failed");  // while they were made
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
  const std::vector<ncclComm_t>& communicators = communicators_.at(group.members);
  YUBA_RETURN_IF_ERROR(NcclStatus(nccl_, nccl_.ncclGroupStart(), "ncclGroupStart"));
  absl::Status status;
  for (size_t i = 0; i < group.members.size() && status.ok(); ++i) {
    CudaDevice& member = *devices_[group.members[i]];
    status = NcclStatus(nccl_,
                        call.collective->enqueue(nccl_, member.arena() + group.from[i],
                                                 member.arena() + group.to[i], group.bytes,
                                                 communicators[i], member.stream()),
                        call.collective->name);
  }
  status.Update(NcclStatus(nccl_, nccl_.ncclGroupEnd(), "ncclGroupEnd"));  // the first error counts
  return status;
}

absl::Status NcclCommunicators::Check() const {
  if (ended_) return absl::OkStatus();
  for (const auto& [members, communicators] : communicators_) {
    for (size_t i = 0; i < members.size(); ++i) {
      ncclResult_t state = ncclSuccess;
      YUBA_RETURN_IF_ERROR(NcclStatus(nccl_, nccl_.ncclCommGetAsyncError(communicators[i], &state),
                                      "ncclCommGetAsyncError"));
      if (state == ncclSuccess || state == ncclInProgress) continue;
      return Annotate(NcclStatus(nccl_, state, "ncclCommGetAsyncError"),
                      absl::StrCat("device ", members[i], ", in a collective of NCCL"));
    }
  }
  return absl::OkStatus();
}

void NcclCommunicators::EndWork() {
  failed_ = true;  // nothing new is started
  // A call that is under way has the mutex: either it soon ends, or it hangs, and this frees it.
  std::unique_lock<std::mutex> lock(mutex_, std::defer_lock);
  for (int tries = 0; tries < 50 && !lock.try_lock(); ++tries) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  if (!ended_.exchange(true)) AbortAll();
}

void NcclCommunicators::Reset() {
  std::lock_guard<std::mutex> lock(mutex_);
  rounds_.clear();
  failed_ = false;
}

}  // namespace yuba::cuda

#endif  // YUBA_WITH_CUDA
