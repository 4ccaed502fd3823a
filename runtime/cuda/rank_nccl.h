// This rank's member of the communicator that NCCL makes of all ranks of a job, for its one GPU.
// It does not block in NCCL: calls return while NCCL is still at them, and its state is asked until
// it has come to an end, so that a rank that never comes ends no other.
//
//   YUBA_ASSIGN_OR_RETURN(auto nccl, RankNccl::Make(**Nccl::Open(), job, gpu, 60));
//   nccl->Start({{1, true, from, 4096}, {1, false, to, 4096}}, stream);
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
#include "runtime/ranks/job.h"

namespace yuba::cuda {

// Bytes in this GPU's memory, that go to another rank or come from it.
struct NcclMessage {
  int peer = 0;
  bool send = false;
  char* data = nullptr;
  int64_t bytes = 0;
};

class RankNccl {
 public:
  // All ranks call it; blocks until all have come, for `seconds` at most. Job and GPU outlive it.
  static absl::StatusOr<std::unique_ptr<RankNccl>> Make(const Nccl& nccl, runtime::Job& job,
                                                        const Gpu& gpu, double seconds);
  // Says goodbye to the other ranks where all is well, which takes a few seconds at most.
  ~RankNccl();
  RankNccl(const RankNccl&) = delete;

  // Puts all messages on the stream, which is captured or not, as one step of it. Those between two
  // ranks are matched in the order in which each names them. Blocks while NCCL does that, which
  // includes connecting to a peer when it is first met; not for the messages. Cancelled after
  // EndWork, or when `give_up` says so. Leaves the calling thread in its GPU.
  absl::Status Start(const std::vector<NcclMessage>& messages, cudaStream_t stream,
                     const std::function<bool()>& give_up);

  // What NCCL says of what was started: why the job has ended, where that is the cause.
  absl::Status Check();

  // Ends what was started, on this rank, for good. Waits half a second for a call of NCCL that has
  // just begun, and for none that hangs.
  void EndWork();

  // What making it took of the GPU's memory, about.
  int64_t memory_bytes() const { return memory_bytes_; }

 private:
  RankNccl(const Nccl& nccl, runtime::Job& job, const Gpu& gpu)
      : nccl_(nccl), job_(job), gpu_(gpu) {}
  absl::Status Join(const ncclUniqueId& id, double seconds);
  ncclResult_t StartGroup(const std::vector<NcclMessage>& messages, cudaStream_t stream,
                          const char*& call);
  bool SayGoodbye();
  ncclResult_t State();
  absl::Status ErrorOf(ncclResult_t result, const char* call);
  absl::Status WaitUntilEnqueued(const char* call, const std::function<bool()>& give_up);

  const Nccl& nccl_;
  runtime::Job& job_;
  const Gpu& gpu_;
  std::mutex mutex_;  // NCCL's calls come one after the other
  // Null before it is made and after its end. EndWork takes it away without the mutex where a call
  // that hangs holds that.
  std::atomic<ncclComm_t> communicator_{nullptr};
  std::atomic<bool> failed_{false};
  int64_t memory_bytes_ = 0;
};

}  // namespace yuba::cuda

#endif  // YUBA_RUNTIME_CUDA_RANK_NCCL_H_
