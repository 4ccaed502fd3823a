// All-gathers between GPUs through NCCL. Reductions are not left to it: parts combine in a fixed
// order (reduce.h), which NCCL does not promise. Compiled, but not run on hardware yet.
#ifndef YUBA_RUNTIME_CUDA_NCCL_GATHER_H_
#define YUBA_RUNTIME_CUDA_NCCL_GATHER_H_

#include <map>
#include <mutex>
#include <utility>
#include <vector>

#include "runtime/cuda/cuda_device.h"
#include "runtime/cuda/gather.h"

namespace yuba::cuda {

class NcclGather {
 public:
  NcclGather(const Nccl& nccl, std::vector<CudaDevice*> devices)
      : nccl_(nccl), devices_(std::move(devices)) {}
  ~NcclGather() { Abort(); }

  // For each member once all have come to `place`; the first call starts it on all their streams.
  absl::Status Start(int device, int instruction, const Gather& gather);

  // Ends what runs. Later gathers begin afresh.
  void Abort();

 private:
  struct Round {
    int64_t started = 0;
    std::map<int, int64_t> joined;  // by member
  };
  absl::Status StartAll(const Gather& gather);
  absl::StatusOr<std::vector<ncclComm_t>> CommunicatorsOf(const std::vector<int>& members);

  const Nccl& nccl_;
  const std::vector<CudaDevice*> devices_;
  std::mutex mutex_;  // NCCL's calls come one after the other
  std::map<std::vector<int>, std::vector<ncclComm_t>> communicators_;  // by members
  std::map<std::pair<int, int>, Round> rounds_;                        // by place and first member
};

}  // namespace yuba::cuda

#endif  // YUBA_RUNTIME_CUDA_NCCL_GATHER_H_
