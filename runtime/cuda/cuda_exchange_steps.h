// Exchanges between devices on GPUs (ExchangeSteps). The host only starts the work. Events order
// it: a device's copies come after what its sources did before the exchange, and what the sources
// do next comes after the copies. An event is waited for only after it was recorded, so that
// streams cannot wait in a circle.
#ifndef YUBA_RUNTIME_CUDA_CUDA_EXCHANGE_STEPS_H_
#define YUBA_RUNTIME_CUDA_CUDA_EXCHANGE_STEPS_H_

#include <memory>
#include <vector>

#include "runtime/cuda/cuda_device.h"
#include "runtime/cuda/make_job.h"
#include "runtime/cuda/nccl_collectives.h"
#include "runtime/exchange_protocol.h"

namespace yuba::cuda {

class CudaExchangeSteps : public runtime::ExchangeSteps {
 public:
  // The devices outlive the steps and can read each other's memory. Where `nccl` is null, the
  // reading device copies everything.
  static absl::StatusOr<std::unique_ptr<CudaExchangeSteps>> Make(std::vector<CudaDevice*> devices,
                                                                 int instructions,
                                                                 const Nccl* nccl);
  ~CudaExchangeSteps() override;

  absl::Status Arrive(int device) override;
  absl::Status Copy(int device, int instruction, const runtime::ExchangePlan& plan) override;
  absl::Status Depart(int device, const runtime::ExchangePlan& plan) override;
  void Abort() override;

 private:
  // One piece or cell of a device: a copy of rows where possible, else a job.
  struct Work {
    RowCopy rows;
    char* from = nullptr;
    char* to = nullptr;
    size_t job = 0;        // position of the job in Prepared::jobs
    int64_t elements = 0;  // of the job
  };
  // What one device does in one exchange, made when it first comes there.
  struct Prepared {
    absl::optional<NcclCall> nccl;  // then `work` is empty
    std::vector<Work> work;
    GpuMemory jobs;  // the numbers of all jobs
  };

  CudaExchangeSteps(std::vector<CudaDevice*> devices, int instructions);
  absl::StatusOr<std::unique_ptr<Prepared>> Prepare(int device,
                                                    const runtime::ExchangePlan& plan) const;
  bool OnDifferentGpus(const std::vector<int>& members) const;

  const std::vector<CudaDevice*> devices_;
  std::vector<cudaEvent_t> arrived_, departed_;                   // [device]
  std::vector<std::vector<std::unique_ptr<Prepared>>> prepared_;  // [device][instruction]
  std::unique_ptr<NcclCommunicators> nccl_;                       // may be null
};

}  // namespace yuba::cuda

#endif  // YUBA_RUNTIME_CUDA_CUDA_EXCHANGE_STEPS_H_
