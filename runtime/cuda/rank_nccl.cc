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

absl::StatusOr<std::unique_ptr<RankNccl>> RankNccl::Make(const Nccl& nccl, runtime::Job& job,
                                                         const Gpu& gpu, double seconds) {
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
  std::unique_ptr<RankNccl> made(new RankNccl(nccl, job, gpu));
  YUBA_RETURN_IF_ERROR(made->Join(id, seconds));
  return made;
}

absl::Status RankNccl::Join(const ncclUniqueId& id, double seconds) {
  YUBA_RETURN_IF_ERROR(gpu_.Enter());
  const int64_t free_before = FreeMemory();
  ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
  config.blocking = 0;
  ncclComm_t communicator = nullptr;
  const ncclResult_t result =
      nccl_.ncclCommInitRankConfig(&communicator, job_.size(), id, job_.rank(), &config);
  communicator_ = communicator;
  if (result != ncclSuccess && result != ncclInProgress)
    return ErrorOf(result, "ncclCommInitRankConfig");
  const Clock::time_point start = Clock::now();
  const absl::Status joined = WaitUntilEnqueued("ncclCommInitRankConfig", [&] {
    return !job_.ended().ok() || SecondsSince(start) > seconds;
  });
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

RankNccl::~RankNccl() {
  if (communicator_ == nullptr) return;
  if (!failed_ && job_.ended().ok() && SayGoodbye())
    nccl_.ncclCommDestroy(communicator_);
  else
    EndWork();
}

// Whether all that was started is over, and the others may go on without this rank. What goes wrong
// here is nobody's failure any more.
bool RankNccl::SayGoodbye() {
  ncclResult_t state = ncclSuccess;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    state = nccl_.ncclCommFinalize(communicator_);
  }
  const Clock::time_point start = Clock::now();
  if (state == ncclSuccess || state == ncclInProgress) state = State();
  while (state == ncclInProgress && SecondsSince(start) < kGoodbyeSeconds) {
    std::this_thread::sleep_for(kSleep);
    state = State();
  }
  return state == ncclSuccess;
}

// Of what NCCL was asked for last; ncclInProgress while it is at it or in a call, which may hang,
// ncclSuccess where nobody can ask any more.
ncclResult_t RankNccl::State() {
  const std::unique_lock<std::mutex> lock(mutex_, std::try_to_lock);
  if (!lock.owns_lock()) return ncclInProgress;
  const ncclComm_t communicator = communicator_;
  if (communicator == nullptr) return ncclSuccess;
  ncclResult_t state = ncclSuccess;
  const ncclResult_t asked = nccl_.ncclCommGetAsyncError(communicator, &state);
  return asked == ncclSuccess ? state : asked;
}

// Calls that are wrong are this rank's own failure. Of others another rank may be the cause, which
// the job knows.
absl::Status RankNccl::ErrorOf(ncclResult_t result, const char* call) {
  const ncclComm_t communicator = communicator_;
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
    if (communicator_ == nullptr) return absl::CancelledError("NCCL's work was ended");
    if (state == ncclSuccess) return absl::OkStatus();
    if (state != ncclInProgress) return ErrorOf(state, call);
    if (give_up()) return absl::CancelledError("the run has failed on another rank");
    if (SecondsSince(start) < kSpinSeconds)
      std::this_thread::yield();
    else
      std::this_thread::sleep_for(kSleep);
  }
}

// What NCCL says, and of which call.
ncclResult_t RankNccl::StartGroup(const std::vector<NcclMessage>& messages, cudaStream_t stream,
                                  const char*& call) {
  const std::lock_guard<std::mutex> lock(mutex_);
  const ncclComm_t communicator = communicator_;
  call = "ncclGroupStart";
  if (communicator == nullptr) return ncclSuccess;  // which WaitUntilEnqueued finds
  ncclResult_t result = nccl_.ncclGroupStart();
  if (result != ncclSuccess) return result;
  for (const NcclMessage& message : messages) {
    const auto bytes = static_cast<size_t>(message.bytes);
    call = message.send ? "ncclSend" : "ncclRecv";
    const ncclResult_t asked =
        message.send
            ? nccl_.ncclSend(message.data, bytes, ncclUint8, message.peer, communicator, stream)
            : nccl_.ncclRecv(message.data, bytes, ncclUint8, message.peer, communicator, stream);
    if (asked == ncclSuccess || asked == ncclInProgress) continue;
    result = asked;
    break;
  }
  const ncclResult_t ended = nccl_.ncclGroupEnd();
  if (result != ncclSuccess) return result;
  call = "ncclGroupEnd";
  return ended;
}

absl::Status RankNccl::Start(const std::vector<NcclMessage>& messages, cudaStream_t stream,
                             const std::function<bool()>& give_up) {
  if (failed_) return absl::CancelledError("the run has failed");
  const char* call = nullptr;
  const ncclResult_t result = StartGroup(messages, stream, call);
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
  const ncclComm_t communicator = communicator_.exchange(nullptr);
  if (communicator != nullptr) nccl_.ncclCommAbort(communicator);
}

}  // namespace yuba::cuda

#endif  // YUBA_WITH_CUDA
