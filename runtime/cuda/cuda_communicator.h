// Exchanges between devices on GPUs. The host goes through the same steps as for devices in its own
// memory, but only starts the work: events order each device's copies after what its sources did
// before, and what they do later after the copies. An event is waited for only after it was
// recorded, so that streams cannot wait in a circle. Compiled, but not run on hardware yet.
#ifndef YUBA_RUNTIME_CUDA_CUDA_COMMUNICATOR_H_
#define YUBA_RUNTIME_CUDA_CUDA_COMMUNICATOR_H_

#include <memory>
#include <vector>

#include "runtime/cuda/cuda_device.h"
#include "runtime/cuda/make_job.h"
#include "runtime/cuda/nccl_gather.h"
#include "runtime/host/shared_memory.h"

namespace yuba::cuda {

class CudaCommunicator : public runtime::SharedMemory {
 public:
  // The devices outlive it, and can read each other's memory. Each place has one plan throughout.
  // Without `nccl` everything is copied by the reading device.
  static absl::StatusOr<std::unique_ptr<CudaCommunicator>> Make(std::vector<CudaDevice*> devices,
                                                                int instructions, const Nccl* nccl);
  ~CudaCommunicator() override;
  void Abort() override;

 protected:
  absl::Status Arrive(int device) override;
  absl::Status Copy(int device, int instruction, const runtime::ExchangePlan& plan) override;
  absl::Status Depart(int device, const runtime::ExchangePlan& plan) override;

 private:
  // A copy of rows, or a job at `job` in the exchange's numbers.
  struct Work {
    RowCopy rows;
    char* from = nullptr;
    char* to = nullptr;
    size_t job = 0;
    int64_t elements = 0;
  };
  // One device's part in one exchange, made when it first comes there.
  struct Prepared {
    absl::optional<Gather> gather;
    std::vector<Work> work;
    GpuMemory jobs;
  };

  CudaCommunicator(std::vector<CudaDevice*> devices, std::vector<char*> arenas, int instructions);
  absl::StatusOr<std::unique_ptr<Prepared>> Prepare(int device,
                                                    const runtime::ExchangePlan& plan) const;
  bool OnDifferentGpus(const std::vector<int>& members) const;

  const std::vector<CudaDevice*> devices_;
  std::vector<cudaEvent_t> arrived_, departed_;                   // by device
  std::vector<std::vector<std::unique_ptr<Prepared>>> prepared_;  // by device and place
  std::unique_ptr<NcclGather> nccl_;
};

}  // namespace yuba::cuda

#endif  // YUBA_RUNTIME_CUDA_CUDA_COMMUNICATOR_H_
