// Collectives that NCCL does between GPUs: one row for each, by the name of its row in
// opsemantics/base/collectives.h. Reductions are not left to NCCL: partials combine in a fixed
// order (reduce.h), which it does not promise.
#ifndef YUBA_RUNTIME_CUDA_NCCL_COLLECTIVES_H_
#define YUBA_RUNTIME_CUDA_NCCL_COLLECTIVES_H_

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <utility>
#include <vector>

#include "absl/types/optional.h"
#include "runtime/cuda/cuda_device.h"
#include "runtime/cuda/group_call.h"

namespace yuba::cuda {

// A row of the table, which is in nccl_collectives.cc.
struct NcclCollective {
  const char* name;
  // What `device` takes part in; nothing where NCCL cannot do the exchange in one call.
  absl::optional<GroupCall> (*call_of)(const runtime::ExchangePlan& plan, int device);
  // Enqueues one member's part: its own bytes at `from`, the group's result at `to`.
  ncclResult_t (*enqueue)(const Nccl& nccl, const char* from, char* to, int64_t bytes,
                          ncclComm_t communicator, cudaStream_t stream);
};

// An exchange that NCCL does.
struct NcclCall {
  const NcclCollective* collective = nullptr;
  GroupCall group;
};
// By the first row of the table that can do it.
absl::optional<NcclCall> NcclCallOf(const runtime::ExchangePlan& plan, int device);

// Owns NCCL's communicators, one for each group of devices that some collective of the program has.
// The devices outlive it. Calls may come from the threads of all devices.
class NcclCommunicators {
 public:
  // groups: devices, ascending, each on a GPU of its own unless the library allows otherwise
  // (Nccl::may_share_gpus). Blocks until all communicators are made, which may take seconds.
  static absl::StatusOr<std::unique_ptr<NcclCommunicators>> Make(
      const Nccl& nccl, std::vector<CudaDevice*> devices, const std::set<std::vector<int>>& groups);
  ~NcclCommunicators() { EndWork(); }

  // Called by each member once all members have come to `instruction`. The first call starts the
  // call on the streams of all of them; the others' find it started. Does not wait for it. After
  // EndWork it is Cancelled until Reset; the first one after that makes new communicators.
  absl::Status Start(int device, int instruction, const NcclCall& call);

  // What NCCL says of calls that run: the first failure. From any thread.
  absl::Status Check() const;
  // Ends the calls that run and frees the communicators. Waits half a second for a call of this
  // object that has just begun, and for none that hangs.
  void EndWork();
  // After a failed run: all calls begin anew.
  void Reset();

  // What the communicators took of the memory of the first GPU of each group, about, together.
  int64_t memory_bytes() const { return memory_bytes_; }

 private:
  // How often a call was started, and each member has called for it.
  struct Round {
    int64_t started = 0;
    std::map<int, int64_t> joined;  // by device
  };
  NcclCommunicators(const Nccl& nccl, std::vector<CudaDevice*> devices)
      : nccl_(nccl), devices_(std::move(devices)) {}
  absl::Status MakeAll();
  void AbortAll();
  absl::Status StartAll(const NcclCall& call);

  const Nccl& nccl_;
  const std::vector<CudaDevice*> devices_;
  std::mutex mutex_;  // NCCL's calls come one after the other
  // By members. The lists change in MakeAll alone: EndWork goes through them without the mutex
  // where a call that hangs holds it.
  std::map<std::vector<int>, std::vector<ncclComm_t>> communicators_;
  std::atomic<bool> ended_{true};    // they are freed, or not made yet
  std::atomic<bool> failed_{false};  // the run was ended: nothing is started until Reset
  std::map<std::pair<int, int>, Round> rounds_;  // by instruction and first member
  int64_t memory_bytes_ = 0;
};

}  // namespace yuba::cuda

#endif  // YUBA_RUNTIME_CUDA_NCCL_COLLECTIVES_H_
