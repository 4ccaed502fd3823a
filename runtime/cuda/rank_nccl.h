// This rank's members of the communicators that NCCL makes of the ranks of a job, for its one GPU:
// one of all ranks, and others that are split from it, for groups of ranks that call collectives.
// It does not block in NCCL: calls return while NCCL is still at them, and its state is asked until
// it has come to an end, so that a rank that never comes ends no other.
//
//   YUBA_ASSIGN_OR_RETURN(auto nccl, RankNccl::Make(**Nccl::Open(), job, gpu, {}, 60));
//   nccl->Start({{{1, true, from, 4096}, {1, false, to, 4096}}, {}}, stream, give_up);
//
// Threads: Start by one thread at a time; Check and EndWork by any thread, also meanwhile.
#ifndef YUBA_RUNTIME_CUDA_RANK_NCCL_H_
#define YUBA_RUNTIME_CUDA_RANK_NCCL_H_

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

#include "runtime/cuda/gpu.h"
#include "runtime/cuda/nccl_sums.h"
#include "runtime/ranks/job.h"
#include "runtime/ranks/rank_exchange.h"

namespace yuba::cuda {

// Bytes in this GPU's memory, that go to another rank or come from it.
struct NcclMessage {
  int peer = 0;
  bool send = false;
  char* data = nullptr;
  int64_t bytes = 0;
};

// A collective that all members of a communicator call.
struct NcclCall {
  runtime::RankCall::Kind kind = runtime::RankCall::kAllGather;
  size_t communicator = 0;  // 0: of all ranks; n: that of splits[n - 1]
  const char* send = nullptr;
  char* receive = nullptr;
  int64_t count = 0;        // of elements, as RankCall has it
  NcclReduction reduction;  // of an all-gather the type alone
};

// What begins at once.
struct NcclGroup {
  std::vector<NcclMessage> messages;
  std::vector<NcclCall> calls;
  bool empty() const { return messages.empty() && calls.empty(); }
};

class RankNccl {
 public:
  // All ranks call it with the same splits; blocks until all have come, for `seconds` at most. Job
  // and GPU outlive it. splits: [split][rank] a number for each rank, below the job's size: those
  // that have the same one get a communicator, in their order, if they are several.
  static absl::StatusOr<std::unique_ptr<RankNccl>> Make(const Nccl& nccl, runtime::Job& job,
                                                        const Gpu& gpu,
                                                        const std::vector<std::vector<int>>& splits,
                                                        double seconds);
  // Says goodbye to the other ranks where all is well, which takes a few seconds at most.
  ~RankNccl();
  RankNccl(const RankNccl&) = delete;

  // Puts all of the group on the stream, which is captured or not, as one step of it. Messages
  // between two ranks are matched in the order in which each names them, calls in that of each
  // communicator. Blocks while NCCL does that, which includes connecting to a peer when it is first
  // met; not for what moves. Cancelled after EndWork, or when `give_up` says so. Leaves the calling
  // thread in its GPU.
  absl::Status Start(const NcclGroup& group, cudaStream_t stream,
                     const std::function<bool()>& give_up);

  // What NCCL says of what was started: why the job has ended, where that is the cause.
  absl::Status Check();

  // Ends what was started, on this rank, for good. Waits half a second for a call of NCCL that has
  // just begun, and for none that hangs.
  void EndWork();

  // What making it took of the GPU's memory, about.
  int64_t memory_bytes() const { return memory_bytes_; }

 private:
  RankNccl(const Nccl& nccl, runtime::Job& job, const Gpu& gpu, size_t splits)
      : nccl_(nccl), job_(job), gpu_(gpu), made_(splits), communicators_(1 + splits) {}
  absl::Status Join(const ncclUniqueId& id, const std::vector<std::vector<int>>& splits,
                    double seconds);
  absl::Status Split(size_t split, const std::vector<int>& number_of,
                     const std::function<bool()>& give_up);
  ncclResult_t StartMessage(const NcclMessage& message, cudaStream_t stream, const char*& call);
  ncclResult_t StartCall(const NcclCall& collective, cudaStream_t stream, const char*& call);
  ncclResult_t StartGroup(const NcclGroup& group, cudaStream_t stream, const char*& call);
  bool SayGoodbye();
  ncclResult_t State();
  absl::Status ErrorOf(ncclResult_t result, const char* call);
  absl::Status WaitUntilEnqueued(const char* call, const std::function<bool()>& give_up);

  const Nccl& nccl_;
  runtime::Job& job_;
  const Gpu& gpu_;
  std::mutex mutex_;              // NCCL's calls come one after the other
  std::vector<ncclComm_t> made_;  // [split] into which NCCL writes while it makes them
  // That of all ranks, then [split]; null before they are made and after their end, and where this
  // rank is alone. EndWork takes them away without the mutex where a call that hangs holds that.
  std::vector<std::atomic<ncclComm_t>> communicators_;
  std::atomic<bool> failed_{false};
  int64_t memory_bytes_ = 0;
};

}  // namespace yuba::cuda

#endif  // YUBA_RUNTIME_CUDA_RANK_NCCL_H_
