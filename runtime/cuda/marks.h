// How far a stream has come, as the host sees it at any time, also after an error: every few
// instructions the stream itself writes into memory of the host how many have ended. A mark behind
// each of them would cost 10 to 17 % of a step of GPT-2 (2 to 3 us each; docs/gpu.md).
//
// Example: of 12 instructions that were started, the stream has noted the end of 8. The ninth is
// the first that is not known to have ended, and any of the last four may be what hangs.
#ifndef YUBA_RUNTIME_CUDA_MARKS_H_
#define YUBA_RUNTIME_CUDA_MARKS_H_

#include <atomic>
#include <mutex>
#include <vector>

#include "runtime/cuda/error.h"
#include "runtime/device.h"

namespace yuba::cuda {

class Marks {
 public:
  Marks() = default;
  ~Marks();
  Marks(const Marks&) = delete;

  // Once, with the stream's GPU as the calling thread's.
  absl::Status Open(cudaStream_t stream);
  // All of `instruction` has been started on the stream.
  absl::Status Add(int instruction);
  // Nothing more is started before the stream is waited for.
  absl::Status Close();
  // All that was started has ended: forgets which instructions they were.
  void Settle();

  // From any thread.
  int64_t finished() const;  // instructions, since Open; some more may have ended
  runtime::UnfinishedWork unfinished() const;

 private:
  absl::Status Write(int64_t number);

  const Driver* driver_ = nullptr;
  cudaStream_t stream_ = nullptr;
  std::atomic<int64_t>* ended_ = nullptr;  // in memory of the host; the stream writes it
  mutable std::mutex mutex_;               // of the rest
  int64_t settled_ = 0;                    // instructions that were forgotten
  int64_t noted_ = 0;                      // the number that the stream writes last
  std::vector<int> started_;               // those after them, in order
};

}  // namespace yuba::cuda

#endif  // YUBA_RUNTIME_CUDA_MARKS_H_
