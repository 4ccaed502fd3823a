#ifdef YUBA_WITH_CUDA
#include "runtime/cuda/two_streams.h"

namespace yuba::cuda {
namespace {

absl::Status MakeEvent(cudaEvent_t& event) {
  YUBA_CUDA(cudaEventCreateWithFlags(&event, cudaEventDisableTiming));
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::unique_ptr<TwoStreams>> TwoStreams::Make(const runtime::LoadedProgram& program,
                                                             const Gpu& gpu, cudaStream_t kernels) {
  std::unique_ptr<TwoStreams> made(new TwoStreams(gpu, kernels));
  YUBA_RETURN_IF_ERROR(made->Open(program));
  return made;
}

absl::Status TwoStreams::Open(const runtime::LoadedProgram& program) {
  YUBA_RETURN_IF_ERROR(gpu_.Enter());
  // Messages that are waited for go before kernels that fill the GPU.
  int least = 0, greatest = 0;
  YUBA_CUDA(cudaDeviceGetStreamPriorityRange(&least, &greatest));
  YUBA_CUDA(cudaStreamCreateWithPriority(&exchanges_, cudaStreamNonBlocking, greatest));
  YUBA_RETURN_IF_ERROR(MakeEvent(begun_));
  YUBA_RETURN_IF_ERROR(MakeEvent(all_exchanged_));
  ended_.resize(program.instructions().size(), nullptr);
  for (const program::Instruction& instruction : program.instructions()) {
    is_exchange_.push_back(instruction.has_exchange());
    after_.push_back(instruction.after() - 1);
    if (after_.back() < 0 || ended_[after_.back()] != nullptr) continue;
    YUBA_RETURN_IF_ERROR(MakeEvent(ended_[after_.back()]));
  }
  return absl::OkStatus();
}

TwoStreams::~TwoStreams() {
  if (!gpu_.Enter().ok()) return;
  for (cudaEvent_t event : ended_) {
    if (event != nullptr) cudaEventDestroy(event);
  }
  for (cudaEvent_t event : {begun_, all_exchanged_}) {
    if (event != nullptr) cudaEventDestroy(event);
  }
  if (exchanges_ != nullptr) cudaStreamDestroy(exchanges_);
}

absl::Status TwoStreams::BeginStep() {
  YUBA_CUDA(cudaEventRecord(begun_, kernels_));
  YUBA_CUDA(cudaStreamWaitEvent(exchanges_, begun_, 0));
  return absl::OkStatus();
}

absl::Status TwoStreams::Wait(int instruction) {
  const int after = after_[instruction];
  if (after >= 0) YUBA_CUDA(cudaStreamWaitEvent(StreamOf(instruction), ended_[after], 0));
  return absl::OkStatus();
}

absl::Status TwoStreams::Note(int instruction) {
  const cudaEvent_t ended = ended_[instruction];
  if (ended != nullptr) YUBA_CUDA(cudaEventRecord(ended, StreamOf(instruction)));
  return absl::OkStatus();
}

absl::Status TwoStreams::EndStep() {
  YUBA_CUDA(cudaEventRecord(all_exchanged_, exchanges_));
  YUBA_CUDA(cudaStreamWaitEvent(kernels_, all_exchanged_, 0));
  return absl::OkStatus();
}

}  // namespace yuba::cuda

#endif  // YUBA_WITH_CUDA
