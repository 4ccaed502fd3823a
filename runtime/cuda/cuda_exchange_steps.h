// Exchanges between virtual devices on one GPU (ExchangeSteps): copies and combinations by the
// reading device. The host only starts the work. Events order it: a device's copies come after what
// its sources did before the exchange, and what the sources do next comes after the copies. An
// event is waited for only after it was recorded, so that streams cannot wait in a circle.
#ifndef YUBA_RUNTIME_CUDA_CUDA_EXCHANGE_STEPS_H_
#define YUBA_RUNTIME_CUDA_CUDA_EXCHANGE_STEPS_H_

#include <memory>
#include <vector>

#include "runtime/cuda/cuda_device.h"
#include "runtime/cuda/exchange_work.h"
#include "runtime/exchange_protocol.h"

namespace yuba::cuda {

class CudaExchangeSteps : public runtime::ExchangeSteps {
 public:
  // The devices, all on one GPU, outlive the steps.
  static absl::StatusOr<std::unique_ptr<CudaExchangeSteps>> Make(std::vector<CudaDevice*> devices);
  ~CudaExchangeSteps() override;

  absl::Status Prepare(const std::vector<runtime::ExchangePlan>& plans) override;
  absl::Status Arrive(int device, int instruction) override;
  absl::Status Copy(int device, int instruction, const runtime::ExchangePlan& plan) override;
  absl::Status Depart(int device, int instruction, const runtime::ExchangePlan& plan) override;

 private:
  // Of one device.
  struct Own {
    cudaEvent_t arrived = nullptr, departed = nullptr;
    std::vector<std::vector<ExchangeWork::Part>> parts;  // [instruction] what it copies there
    ExchangeWork work;                                   // what they refer to
  };

  explicit CudaExchangeSteps(std::vector<CudaDevice*> devices);
  std::vector<ExchangeWork::Part> PartsOf(int device, const runtime::ExchangePlan& plan);

  const std::vector<CudaDevice*> devices_;
  std::vector<std::unique_ptr<Own>> own_;  // [device]
};

}  // namespace yuba::cuda

#endif  // YUBA_RUNTIME_CUDA_CUDA_EXCHANGE_STEPS_H_
