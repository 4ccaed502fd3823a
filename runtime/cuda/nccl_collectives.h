// Collectives that NCCL does between GPUs: one row for each, by the name of its row in
// opsemantics/base/collectives.h. Reductions are not left to NCCL: partials combine in a fixed
// order (reduce.h), which it does not promise.
#ifndef YUBA_RUNTIME_CUDA_NCCL_COLLECTIVES_H_
#define YUBA_RUNTIME_CUDA_NCCL_COLLECTIVES_H_

#include <map>
#include <mutex>
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

// Owns one NCCL communicator for each list of members, made when it is first used. The devices
// outlive it. Calls may come from the threads of all devices.
class NcclCommunicators {
 public:
  NcclCommunicators(const Nccl& nccl, std::vector<CudaDevice*> devices);
  ~NcclCommunicators() { Abort(); }

  // Called by each member once all members have come to `instruction`. The first call starts the
  // call on the streams of all of them; the others' find it started. Does not wait for it.
  absl::Status Start(int device, int instruction, const NcclCall& call);

  // Ends the calls that run. Later ones begin with new communicators.
  void Abort();

 private:
  // How often a call was started, and each member has called for it.
  struct Round {
    int64_t started = 0;
    std::map<int, int64_t> joined;  // by device
  };
  absl::Status StartAll(const NcclCall& call);
  absl::StatusOr<std::vector<ncclComm_t>> CommunicatorsOf(const std::vector<int>& members);

  const Nccl& nccl_;
  const std::vector<CudaDevice*> devices_;
  std::mutex mutex_;  // NCCL's calls come one after the other
  std::map<std::vector<int>, std::vector<ncclComm_t>> communicators_;  // by members
  std::map<std::pair<int, int>, Round> rounds_;  // by instruction and first member
};

}  // namespace yuba::cuda

#endif  // YUBA_RUNTIME_CUDA_NCCL_COLLECTIVES_H_
