#ifdef YUBA_WITH_CUDA
#include "runtime/cuda/marks.h"

#include <algorithm>
#include <new>

namespace yuba::cuda {
namespace {

constexpr int kInstructionsOfMark = 8;

}  // namespace

Marks::~Marks() { cudaFreeHost(ended_); }

absl::Status Marks::Open(cudaStream_t stream) {
  YUBA_ASSIGN_OR_RETURN(driver_, Driver::Open());
  stream_ = stream;
  void* memory = nullptr;
  static_assert(std::atomic<int64_t>::is_always_lock_free, "a GPU writes it as a plain number");
  YUBA_CUDA(cudaHostAlloc(&memory, sizeof *ended_, cudaHostAllocPortable));
  ended_ = new (memory) std::atomic<int64_t>(0);
  return absl::OkStatus();
}

absl::Status Marks::Add(int instruction) {
  int64_t number = 0;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    started_.push_back(instruction);
    number = settled_ + static_cast<int64_t>(started_.size());
  }
  return number < noted_ + kInstructionsOfMark ? absl::OkStatus() : Write(number);
}

absl::Status Marks::Close() {
  const int64_t number = settled_ + static_cast<int64_t>(started_.size());
  return number == noted_ ? absl::OkStatus() : Write(number);
}

absl::Status Marks::Write(int64_t number) {
  YUBA_CUDA(driver_->cuStreamWriteValue64(stream_, reinterpret_cast<CUdeviceptr>(ended_), number,
                                          CU_STREAM_WRITE_VALUE_DEFAULT));
  std::lock_guard<std::mutex> lock(mutex_);
  noted_ = number;
  return absl::OkStatus();
}

void Marks::Settle() {
  std::lock_guard<std::mutex> lock(mutex_);
  settled_ += static_cast<int64_t>(started_.size());
  started_.clear();
}

int64_t Marks::finished() const { return ended_ == nullptr ? 0 : ended_->load(); }

runtime::UnfinishedWork Marks::unfinished() const {
  std::lock_guard<std::mutex> lock(mutex_);
  // What was forgotten has ended, whether the stream has noted it or not.
  const int64_t ended = std::max<int64_t>(0, finished() - settled_),
                started = static_cast<int64_t>(started_.size());
  if (ended >= started) return {};
  const int64_t most = std::min(started - ended, int64_t{kInstructionsOfMark});
  return {started_[ended], static_cast<int>(most)};
}

}  // namespace yuba::cuda

#endif  // YUBA_WITH_CUDA
