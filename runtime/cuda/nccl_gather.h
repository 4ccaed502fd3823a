// All-gathers between GPUs through NCCL. Reductions are not left to NCCL: partials combine in a
// fixed order (reduce.h), which it does not promise. Compiled, but not run on hardware yet.
#ifndef YUBA_RUNTIME_CUDA_NCCL_GATHER_H_
#define YUBA_RUNTIME_CUDA_NCCL_GATHER_H_

#include <map>
#include <mutex>
#include <utility>
#include <vector>

#include "runtime/cuda/cuda_device.h"
#include "runtime/cuda/gather.h"

namespace yuba::cuda {

// Owns one NCCL communicator for each list of members, made when it is first used. The devices
// outlive it. Calls may come from the threads of all devices.
class NcclGather {
 public:
  NcclGather(const Nccl& nccl, std::vector<CudaDevice*> devices)
      : nccl_(nccl), devices_(std::move(devices)) {}
  ~NcclGather() { Abort(); }

  // Called by each member once all members have come to `instruction`. The first call starts the
  // gather on the streams of all of them; the others' find it started. Does not wait for it.
  absl::Status Start(int device, int instruction, const Gather& gather);

  // Ends the gathers that run. Later ones begin with new communicators.
  void Abort();

 private:
  // How often a gather was started, and each member has called for it.
  struct Round {
    int64_t started = 0;
    std::map<int, int64_t> joined;  // by device
  };
  absl::Status StartAll(const Gather& gather);
  absl::StatusOr<std::vector<ncclComm_t>> CommunicatorsOf(const std::vector<int>& members);

  const Nccl& nccl_;
  const std::vector<CudaDevice*> devices_;
  std::mutex mutex_;  // NCCL's calls come one after the other
  std::map<std::vector<int>, std::vector<ncclComm_t>> communicators_;  // by members
  std::map<std::pair<int, int>, Round> rounds_;  // by instruction and first member
};

}  // namespace yuba::cuda

#endif  // YUBA_RUNTIME_CUDA_NCCL_GATHER_H_
