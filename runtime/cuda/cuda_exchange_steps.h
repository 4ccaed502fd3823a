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
                                                                 const Nccl* nccl);
  ~CudaExchangeSteps() override;

  absl::Status Prepare(const std::vector<runtime::ExchangePlan>& plans) override;
  absl::Status Arrive(int device) override;
  absl::Status Copy(int device, int instruction, const runtime::ExchangePlan& plan) override;
  absl::Status Depart(int device, int instruction, const runtime::ExchangePlan& plan) override;
  absl::Status Check() override;
  void EndWork() override;
  void Reset() override;

 private:
  // One piece or cell of a device: a copy of rows where possible and fast, else a job.
  struct Work {
    RowCopy rows;
    char* from = nullptr;
    char* to = nullptr;
    size_t job = 0;        // position of the job in Prepared::jobs
    int64_t elements = 0;  // of the job
  };
  // What one device does in one exchange.
  struct Prepared {
    absl::optional<NcclCall> nccl;  // then `work` is empty
    std::vector<Work> work;
  };
  // Of one device.
  struct Own {
    cudaEvent_t arrived = nullptr, departed = nullptr;
    std::vector<Prepared> prepared;  // [instruction]
    GpuMemory jobs;                  // the numbers of all jobs
  };

  CudaExchangeSteps(std::vector<CudaDevice*> devices, const Nccl* nccl);
  absl::Status Start(int device, const Work& work);
  // Appends the numbers of its jobs to `jobs`.
  Prepared PrepareOne(int device, const runtime::ExchangePlan& plan,
                      std::vector<int64_t>& jobs) const;
  bool OnDifferentGpus(const std::vector<int>& members) const;

  const std::vector<CudaDevice*> devices_;
  const Nccl* const nccl_library_;           // may be null
  std::vector<std::unique_ptr<Own>> own_;    // [device]
  std::unique_ptr<NcclCommunicators> nccl_;  // null where NCCL does no exchange
};

}  // namespace yuba::cuda

#endif  // YUBA_RUNTIME_CUDA_CUDA_EXCHANGE_STEPS_H_
