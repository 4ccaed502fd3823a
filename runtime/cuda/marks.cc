#ifdef YUBA_WITH_CUDA
#include "runtime/cuda/marks.h"

#include <algorithm>
#include <new>
#include <utility>

namespace yuba::cuda {

Marks::~Marks() { cudaFreeHost(ended_); }

absl::Status Marks::Open(const Gpu& gpu, cudaStream_t stream, int instructions_of_mark) {
  instructions_of_mark_ = instructions_of_mark;
  YUBA_ASSIGN_OR_RETURN(driver_, Driver::Open());
  gpu_ = &gpu;
  stream_ = stream;
  void* memory = nullptr;
  static_assert(std::atomic<int64_t>::is_always_lock_free, "a GPU writes it as a plain number");
  YUBA_CUDA(cudaHostAlloc(&memory, sizeof *ended_, cudaHostAllocPortable));
  ended_ = new (memory) Ended;
  return absl::OkStatus();
}

absl::Status Marks::Add(int instruction) {
  if (recording_) {
    recorded_.push_back(instruction);
    const int64_t number = static_cast<int64_t>(recorded_.size());
    return number < recorded_note_ + instructions_of_mark_ ? absl::OkStatus() : Write(number);
  }
  int64_t number = 0;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    started_.push_back(instruction);
    number = settled_ + static_cast<int64_t>(started_.size());
  }
  return number < noted_ + instructions_of_mark_ ? absl::OkStatus() : Write(number);
}

absl::Status Marks::Close() {
  if (recording_) {
    const int64_t number = static_cast<int64_t>(recorded_.size());
    return number == recorded_note_ ? absl::OkStatus() : Write(number);
  }
  const int64_t number = settled_ + static_cast<int64_t>(started_.size());
  return number == noted_ ? absl::OkStatus() : Write(number);
}

absl::Status Marks::Write(int64_t number) {
  if (recording_) {  // by a kernel, which drivers capture
    YUBA_RETURN_IF_ERROR(
        gpu_->LaunchMark(reinterpret_cast<int64_t*>(&ended_->replayed), number, stream_));
    recorded_note_ = number;
    return absl::OkStatus();
  }
  YUBA_CUDA(driver_->cuStreamWriteValue64(stream_, reinterpret_cast<CUdeviceptr>(&ended_->started),
                                          number, CU_STREAM_WRITE_VALUE_DEFAULT));
  std::lock_guard<std::mutex> lock(mutex_);
  noted_ = number;
  return absl::OkStatus();
}

void Marks::Settle() {
  std::lock_guard<std::mutex> lock(mutex_);
  settled_ += static_cast<int64_t>(started_.size());
  started_.clear();
  replaying_ = false;
}

void Marks::BeginRecording() {
  recording_ = true;
  recorded_.clear();
  recorded_note_ = 0;
}

std::vector<int> Marks::EndRecording() {
  recording_ = false;
  return std::exchange(recorded_, {});
}

void Marks::Replay(const std::vector<int>& recorded) {
  std::lock_guard<std::mutex> lock(mutex_);
  settled_ += static_cast<int64_t>(started_.size());
  started_ = recorded;
  replaying_ = true;
  ended_->replayed = 0;
  // The step's own last mark is that of its end.
  noted_ = settled_ + static_cast<int64_t>(started_.size());
}

int64_t Marks::FinishedLocked() const {
  if (ended_ == nullptr) return 0;
  // What was forgotten has ended, whether the stream has noted it or not.
  return replaying_ ? settled_ + ended_->replayed : std::max(settled_, ended_->started.load());
}

int64_t Marks::finished() const {
  std::lock_guard<std::mutex> lock(mutex_);
  return FinishedLocked();
}

runtime::UnfinishedWork Marks::unfinished() const {
  std::lock_guard<std::mutex> lock(mutex_);
  const int64_t ended = FinishedLocked() - settled_,
                started = static_cast<int64_t>(started_.size());
  if (ended >= started) return {};
  const int64_t most = std::min(started - ended, int64_t{instructions_of_mark_});
  return {{started_.begin() + ended, started_.begin() + ended + most}};
}

}  // namespace yuba::cuda

#endif  // YUBA_WITH_CUDA
