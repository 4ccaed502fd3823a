#ifdef YUBA_WITH_CUDA
#include "runtime/cuda/rank_nccl.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <string>
#include <thread>

#include "absl/strings/str_cat.h"
#include "opsemantics/base/clock.h"
#include "opsemantics/base/status.h"

namespace yuba::cuda {
namespace {

constexpr double kSpinSeconds = 1e-4;
constexpr std::chrono::microseconds kSleep(50);
constexpr double kGoodbyeSeconds = 3;

// Bytes; of the calling thread's GPU.
int64_t FreeMemory() {
  size_t free = 0, total = 0;
  return cudaMemGetInfo(&free, &total) == cudaSuccess ? static_cast<int64_t>(free) : 0;
}

}  // namespace

absl::StatusOr<std::unique_ptr<RankNccl>> RankNccl::Make(
    const Nccl& nccl, runtime::Job& job, const Gpu& gpu,
    const std::vector<std::vector<int>>& splits, double seconds) {
  ncclUniqueId id = {};
  if (job.rank() == 0) {
    const ncclResult_t result = nccl.ncclGetUniqueId(&id);
    if (result != ncclSuccess) {
      return absl::InternalError(
          absl::StrCat(nccl.ncclGetErrorString(result), " (ncclGetUniqueId)"));
    }
  }
  YUBA_ASSIGN_OR_RETURN(const std::string bytes, job.FromFirst({id.internal, sizeof id.internal}));
  if (bytes.size() != sizeof id.internal)
    return InternalError("rank 0 has sent ", bytes.size(), " bytes for an id of NCCL");
  std::memcpy(id.internal, bytes.data(), sizeof id.internal);
  std::unique_ptr<RankNccl> made(new RankNccl(nccl, job, gpu, splits.size()));
  YUBA_RETURN_IF_ERROR(made->Join(id, splits, seconds));
  return made;
}

absl::Status RankNccl::Join(const ncclUniqueId& id, const std::vector<std::vector<int>>& splits,
                            double seconds) {
  YUBA_RETURN_IF_ERROR(gpu_.Enter());
  const int64_t free_before = FreeMemory();
  const Clock::time_point start = Clock::now();
  const auto give_up = [&] { return !job_.ended().ok() || SecondsSince(start) > seconds; };
  ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
  config.blocking = 0;
  config.splitShare = 1;  // communicators that are split from it use its connections and buffers
  ncclComm_t communicator = nullptr;
  const ncclResult_t result =
      nccl_.ncclCommInitRankConfig(&communicator, job_.size(), id, job_.rank(), &config);
  communicators_[0] = communicator;
  if (result != ncclSuccess && result != ncclInProgress)
    return ErrorOf(result, "ncclCommInitRankConfig");
  absl::Status joined = WaitUntilEnqueued("ncclCommInitRankConfig", give_up);
  for (size_t s = 0; s < splits.size() && joined.ok(); ++s) joined = Split(s, splits[s], give_up);
  if (absl::IsCancelled(joined)) {
    YUBA_RETURN_IF_ERROR(job_.ended());
    return absl::DeadlineExceededError(absl::StrCat(
        "the ranks have not found each other through NCCL for ", seconds,
        " s; NCCL_DEBUG=WARN says more, NCCL_SOCKET_IFNAME names a network interface that all "
        "hosts have, and --timeout allows longer"));
  }
  YUBA_RETURN_IF_ERROR(joined);
  YUBA_RETURN_IF_ERROR(gpu_.Enter());
  memory_bytes_ = std::max<int64_t>(0, free_before - FreeMemory());
  return absl::OkStatus();
}

// A rank that is alone with its number takes part, and gets none.
absl::Status RankNccl::Split(size_t split, const std::vector<int>& number_of,
                             const std::function<bool()>& give_up) {
  const int number = number_of[job_.rank()];
  const bool alone = std::count(number_of.begin(), number_of.end(), number) == 1;
  const ncclResult_t result = nccl_.ncclCommSplit(
      communicators_[0], alone ? NCCL_SPLIT_NOCOLOR : number, job_.rank(), &made_[split], nullptr);
  if (result != ncclSuccess && result != ncclInProgress) return ErrorOf(result, "ncclCommSplit");
  // First the one that it is split from has to come to an end, then the new one.
  YUBA_RETURN_IF_ERROR(WaitUntilEnqueued("ncclCommSplit", give_up));
  communicators_[1 + split] = made_[split];
  return WaitUntilEnqueued("ncclCommSplit", give_up);
}

RankNccl::~RankNccl() {
  if (communicators_[0] == nullptr) return;
  if (failed_ || !job_.ended().ok() || !SayGoodbye()) {
    EndWork();
    return;
  }
  for (size_t c = communicators_.size(); c-- > 0;) {
    if (communicators_[c] != nullptr) nccl_.ncclCommDestroy(communicators_[c]);
  }
}

// Whether all that was started is over, and the others may go on without this rank. What goes wrong
// here is nobody's failure any more. Those that were split come before what they were split from.
bool RankNccl::SayGoodbye() {
  const Clock::time_point start = Clock::now();
  for (size_t c = communicators_.size(); c-- > 0;) {
    if (communicators_[c] == nullptr) continue;
    ncclResult_t state = ncclSuccess;
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      state = nccl_.ncclCommFinalize(communicators_[c]);
    }
    if (state == ncclSuccess || state == ncclInProgress) state = State();
    while (state == ncclInProgress && SecondsSince(start) < kGoodbyeSeconds) {
      std::this_thread::sleep_for(kSleep);
      state = State();
    }
    if (state != ncclSuccess) return false;
  }
  return true;
}

// Of what NCCL was asked for last: an error of any communicator; else ncclInProgress while it is at
// one of them or in a call, which may hang; ncclSuccess where nobody can ask any more.
ncclResult_t RankNccl::State() {
  const std::unique_lock<std::mutex> lock(mutex_, std::try_to_lock);
  if (!lock.owns_lock()) return ncclInProgress;
  ncclResult_t all = ncclSuccess;
  for (const std::atomic<ncclComm_t>& each : communicators_) {
    const ncclComm_t communicator = each;
    if (communicator == nullptr) continue;
    ncclResult_t state = ncclSuccess;
    const ncclResult_t asked = nccl_.ncclCommGetAsyncError(communicator, &state);
    if (asked != ncclSuccess) return asked;
    if (state != ncclSuccess && state != ncclInProgress) return state;
    if (state == ncclInProgress) all = state;
  }
  return all;
}

// Calls that are wrong are this rank's own failure. Of others another rank may be the cause, which
// the job knows.
absl::Status RankNccl::ErrorOf(ncclResult_t result, const char* call) {
  const ncclComm_t communicator = communicators_[0];
  const char* const more = communicator == nullptr ? nullptr : nccl_.ncclGetLastError(communicator);
  const std::string words =
      absl::StrCat("NCCL: ", nccl_.ncclGetErrorString(result), " (", call, ")",
                   more == nullptr || *more == '\0' ? "" : absl::StrCat(": ", more));
  failed_ = true;
  if (result == ncclInvalidArgument || result == ncclInvalidUsage)
    return absl::InternalError(words);
  return job_.EndOf({words, -1, false});
}

absl::Status RankNccl::WaitUntilEnqueued(const char* call, const std::function<bool()>& give_up) {
  const Clock::time_point start = Clock::now();
  for (;;) {
    const ncclResult_t state = State();
    if (communicators_[0] == nullptr) return absl::CancelledError("NCCL's work was ended");
    if (state == ncclSuccess) return absl::OkStatus();
    if (state != ncclInProgress) return ErrorOf(state, call);
    if (give_up()) return absl::CancelledError("the run has failed on another rank");
    if (SecondsSince(start) < kSpinSeconds)
      std::this_thread::yield();
    else
      std::this_thread::sleep_for(kSleep);
  }
}

ncclResult_t RankNccl::StartMessage(const NcclMessage& message, cudaStream_t stream,
                                    const char*& call) {
  const auto bytes = static_cast<size_t>(message.bytes);
  const ncclComm_t communicator = communicators_[0];
  call = message.send ? "ncclSend" : "ncclRecv";
  return message.send
             ? nccl_.ncclSend(message.data, bytes, ncclUint8, message.peer, communicator, stream)
             : nccl_.ncclRecv(message.data, bytes, ncclUint8, message.peer, communicator, stream);
}

ncclResult_t RankNccl::StartCall(const NcclCall& collective, cudaStream_t stream,
                                 const char*& call) {
  const auto count = static_cast<size_t>(collective.count);
  const ncclComm_t communicator = communicators_[collective.communicator];
  const auto& [type, reducer, exact] = collective.reduction;
  switch (collective.kind) {
    case runtime::RankCall::kAllGather:
      call = "ncclAllGather";
      return nccl_.ncclAllGather(collective.send, collective.receive, count, type, communicator,
                                 stream);
    case runtime::RankCall::kReduceScatter:
      call = "ncclReduceScatter";
      return nccl_.ncclReduceScatter(collective.send, collective.receive, count, type, reducer,
                                     communicator, stream);
    case runtime::RankCall::kAllReduce:
      call = "ncclAllReduce";
      return nccl_.ncclAllReduce(collective.send, collective.receive, count, type, reducer,
                                 communicator, stream);
  }
  return ncclInternalError;
}

// What NCCL says, and of which call.
ncclResult_t RankNccl::StartGroup(const NcclGroup& group, cudaStream_t stream, const char*& call) {
  const std::lock_guard<std::mutex> lock(mutex_);
  call = "ncclGroupStart";
  if (communicators_[0] == nullptr) return ncclSuccess;  // which WaitUntilEnqueued finds
  ncclResult_t result = nccl_.ncclGroupStart();
  if (result != ncclSuccess) return result;
  const auto note = [&result](ncclResult_t asked) {
    if (asked != ncclSuccess && asked != ncclInProgress) result = asked;
  };
  for (size_t c = 0; c < group.calls.size() && result == ncclSuccess; ++c)
    note(StartCall(group.calls[c], stream, call));
  for (size_t m = 0; m < group.messages.size() && result == ncclSuccess; ++m)
    note(StartMessage(group.messages[m], stream, call));
  const ncclResult_t ended = nccl_.ncclGroupEnd();
  if (result != ncclSuccess) return result;
  call = "ncclGroupEnd";
  return ended;
}

absl::Status RankNccl::Start(const NcclGroup& group, cudaStream_t stream,
                             const std::function<bool()>& give_up) {
  if (failed_) return absl::CancelledError("the run has failed");
  const char* call = nullptr;
  const ncclResult_t result = StartGroup(group, stream, call);
  if (result != ncclSuccess && result != ncclInProgress) return ErrorOf(result, call);
  // Until then what is started on the stream next could come before it.
  YUBA_RETURN_IF_ERROR(WaitUntilEnqueued(call, give_up));
  return gpu_.Enter();  // NCCL's calls change it
}

absl::Status RankNccl::Check() {
  const ncclResult_t state = State();
  if (state == ncclSuccess || state == ncclInProgress) return absl::OkStatus();
  return ErrorOf(state, "ncclCommGetAsyncError");
}

void RankNccl::EndWork() {
  failed_ = true;  // nothing new is started
  // A call that is under way has the mutex: either it soon ends, or it hangs, and this frees it.
  std::unique_lock<std::mutex> lock(mutex_, std::defer_lock);
  for (int tries = 0; tries < 50 && !lock.try_lock(); ++tries)
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  for (size_t c = communicators_.size(); c-- > 0;) {
    const ncclComm_t communicator = communicators_[c].exchange(nullptr);
    if (communicator != nullptr) nccl_.ncclCommAbort(communicator);
  }
}

}  // namespace yuba::cuda

#endif  // YUBA_WITH_CUDA
