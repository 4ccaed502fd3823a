// Exchanges between devices on GPUs (ExchangeSteps): copies and combinations by the reading device,
// through staging buffers where it cannot read a source's memory (staging.h), or a call of NCCL
// (nccl_collectives.h). The host only starts the work. Events order it: a device's copies come
// after what its sources did before the exchange, and what the sources do next comes after the
// copies. An event is waited for only after it was recorded, so that streams cannot wait in a
// circle.
#ifndef YUBA_RUNTIME_CUDA_CUDA_EXCHANGE_STEPS_H_
#define YUBA_RUNTIME_CUDA_CUDA_EXCHANGE_STEPS_H_

#include <functional>
#include <memory>
#include <vector>

#include "runtime/cuda/cuda_device.h"
#include "runtime/cuda/exchange_work.h"
#include "runtime/cuda/nccl_collectives.h"
#include "runtime/exchange_protocol.h"
#include "runtime/staging.h"

namespace yuba::cuda {

class CudaExchangeSteps : public runtime::ExchangeSteps {
 public:
  using CanRead = std::function<bool(int, int)>;
  // The devices outlive the steps. can_read(reader, source): whether a device can read the memory
  // of another; where not, what it reads goes through staging memory. Where `nccl` is null, the
  // reading device copies everything.
  static absl::StatusOr<std::unique_ptr<CudaExchangeSteps>> Make(std::vector<CudaDevice*> devices,
                                                                 CanRead can_read,
                                                                 const Nccl* nccl);
  ~CudaExchangeSteps() override;

  absl::Status Prepare(const std::vector<runtime::ExchangePlan>& plans) override;
  absl::Status Arrive(int device, int instruction) override;
  absl::Status Copy(int device, int instruction, const runtime::ExchangePlan& plan) override;
  absl::Status Depart(int device, int instruction, const runtime::ExchangePlan& plan) override;
  absl::Status Check() override;
  void EndWork() override;
  void Reset() override;
  // After Prepare: whether NCCL does some exchange.
  bool uses_nccl() const { return nccl_ != nullptr; }

 private:
  // What one device does in one exchange.
  struct Prepared {
    absl::optional<NcclCall> nccl;  // then `work` is empty
    std::vector<ExchangeWork::Part>
        pack;  // into its send buffer, for readers that cannot read its memory
    std::vector<runtime::Fetch> fetches;  // into its receive buffer
    std::vector<ExchangeWork::Part> work;
  };
  // Of one device.
  struct Own {
    cudaEvent_t arrived = nullptr, departed = nullptr;
    std::vector<Prepared> prepared;         // [instruction]
    ExchangeWork work;                      // what `prepared` refers to
    GpuMemory send_buffer, receive_buffer;  // as large as some exchange needs them
  };

  CudaExchangeSteps(std::vector<CudaDevice*> devices, CanRead can_read, const Nccl* nccl);
  absl::Status CheckRoom(const std::vector<int64_t>& bytes) const;
  absl::StatusOr<std::vector<runtime::Staging>> PrepareStaging(
      const std::vector<runtime::ExchangePlan>& plans);
  absl::Status Start(int device, const std::vector<ExchangeWork::Part>& parts);
  // What `device` copies in an exchange that NCCL does not do, and what its sources pack for it.
  void PrepareCopies(int device, int instruction, const runtime::ExchangePlan& plan,
                     const runtime::Staging& staging);
  bool OnDifferentGpus(const std::vector<int>& members) const;

  const std::vector<CudaDevice*> devices_;
  const CanRead can_read_;
  const Nccl* const nccl_library_;           // may be null
  std::vector<std::unique_ptr<Own>> own_;    // [device]
  std::unique_ptr<NcclCommunicators> nccl_;  // null where NCCL does no exchange
};

}  // namespace yuba::cuda

#endif  // YUBA_RUNTIME_CUDA_CUDA_EXCHANGE_STEPS_H_
