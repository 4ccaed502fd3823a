#ifdef YUBA_WITH_CUDA
#include "runtime/cuda/cuda_exchange_steps.h"

#include <utility>

namespace yuba::cuda {

CudaExchangeSteps::CudaExchangeSteps(std::vector<CudaDevice*> devices)
    : devices_(std::move(devices)) {
  for (size_t d = 0; d < devices_.size(); ++d) own_.push_back(std::make_unique<Own>());
}

absl::StatusOr<std::unique_ptr<CudaExchangeSteps>> CudaExchangeSteps::Make(
    std::vector<CudaDevice*> devices) {
  std::unique_ptr<CudaExchangeSteps> made(new CudaExchangeSteps(std::move(devices)));
  for (size_t d = 0; d < made->devices_.size(); ++d) {
    YUBA_RETURN_IF_ERROR(made->devices_[d]->gpu().Enter());
    YUBA_CUDA(cudaEventCreateWithFlags(&made->own_[d]->arrived, cudaEventDisableTiming));
    YUBA_CUDA(cudaEventCreateWithFlags(&made->own_[d]->departed, cudaEventDisableTiming));
  }
  return made;
}

CudaExchangeSteps::~CudaExchangeSteps() {
  for (CudaDevice* device : devices_) {
    if (device->gpu().Enter().ok()) cudaStreamSynchronize(device->stream());
  }
  for (const auto& own : own_) {
    for (cudaEvent_t event : {own->arrived, own->departed}) {
      if (event != nullptr) cudaEventDestroy(event);
    }
  }
}

absl::Status CudaExchangeSteps::Prepare(const std::vector<runtime::ExchangePlan>& plans) {
  for (size_t d = 0; d < devices_.size(); ++d) {
    Own& own = *own_[d];
    for (const runtime::ExchangePlan& plan : plans)
      own.parts.push_back(PartsOf(static_cast<int>(d), plan));
    YUBA_RETURN_IF_ERROR(devices_[d]->gpu().Enter());
    YUBA_RETURN_IF_ERROR(own.work.Store(devices_[d]->stream()));
  }
  return absl::OkStatus();
}

std::vector<ExchangeWork::Part> CudaExchangeSteps::PartsOf(int device,
                                                           const runtime::ExchangePlan& plan) {
  std::vector<ExchangeWork::Part> parts;
  if (plan.devices.empty()) return parts;
  ExchangeWork& work = own_[device]->work;
  char* const result = devices_[device]->arena() + plan.destination_offset;
  const auto arena = [&](int source) { return devices_[source]->arena() + plan.source_offset; };
  for (const runtime::Piece& piece : plan.devices[device].pieces) {
    if (piece.walk.elements() == 0) continue;
    parts.push_back(work.Copy(piece.walk, arena(piece.source), result, plan.source_element_bytes));
  }
  for (const runtime::Cell& cell : plan.devices[device].cells) {
    std::vector<const char*> partials;
    for (const int source : cell.sources) partials.push_back(arena(source));
    parts.push_back(work.Combine(plan.combination, cell.walk, partials, result));
  }
  return parts;
}

absl::Status CudaExchangeSteps::Arrive(int device, int /*instruction*/) {
  YUBA_RETURN_IF_ERROR(devices_[device]->gpu().Enter());
  YUBA_CUDA(cudaEventRecord(own_[device]->arrived, devices_[device]->stream()));
  return absl::OkStatus();
}

absl::Status CudaExchangeSteps::Copy(int device, int instruction,
                                     const runtime::ExchangePlan& plan) {
  CudaDevice& own = *devices_[device];
  YUBA_RETURN_IF_ERROR(own.gpu().Enter());
  for (int source : plan.devices[device].sources) {
    YUBA_CUDA(cudaStreamWaitEvent(own.stream(), own_[source]->arrived, 0));
  }
  for (const ExchangeWork::Part& part : own_[device]->parts[instruction])
    YUBA_RETURN_IF_ERROR(own_[device]->work.Start(part, own.gpu(), own.stream()));
  YUBA_CUDA(cudaEventRecord(own_[device]->departed, own.stream()));
  return absl::OkStatus();
}

absl::Status CudaExchangeSteps::Depart(int device, int instruction,
                                       const runtime::ExchangePlan& plan) {
  YUBA_RETURN_IF_ERROR(devices_[device]->gpu().Enter());
  for (int reader : plan.devices[device].readers) {
    YUBA_CUDA(cudaStreamWaitEvent(devices_[device]->stream(), own_[reader]->departed, 0));
  }
  return devices_[device]->StartedExchange(instruction);
}

}  // namespace yuba::cuda

#endif  // YUBA_WITH_CUDA
