// How far a stream has come, as the host sees it at any time, also after an error: every few
// instructions the stream itself writes into memory of the host how many have ended. A mark behind
// each of them would cost 10 to 17 % of a step of GPT-2 (2 to 3 us each; docs/gpu.md).
//
// Example: of 12 instructions that were started, the stream has noted the end of 8. The ninth is
// the first that is not known to have ended, and any of the last four may be what hangs.
//
// Marks are part of a recorded step too (step_recorder.h), which writes the same numbers each time
// it is started: they count from its first instruction on, in memory of their own.
#ifndef YUBA_RUNTIME_CUDA_MARKS_H_
#define YUBA_RUNTIME_CUDA_MARKS_H_

#include <atomic>
#include <memory>
#include <mutex>
#include <vector>

#include "runtime/cuda/gpu.h"
#include "runtime/device.h"

namespace yuba::cuda {

class Marks {
 public:
  static constexpr int kInstructionsOfMark = 8;

  Marks() = default;
  ~Marks();
  Marks(const Marks&) = delete;

  // Once. `gpu` is the stream's, and the calling thread's; it outlives the marks. There is a mark
  // behind so many instructions each.
  absl::Status Open(const Gpu& gpu, cudaStream_t stream,
                    int instructions_of_mark = kInstructionsOfMark);
  // All of `instruction` has been started on the stream, or recorded.
  absl::Status Add(int instruction);
  // Nothing more is started before the stream is waited for, or recorded before the recording ends.
  absl::Status Close();
  // All that was started has ended: forgets which instructions they were.
  void Settle();

  // From here on the stream records.
  void BeginRecording();
  // The instructions that were recorded, in order. Close comes before it where they are to be
  // replayed.
  std::vector<int> EndRecording();
  // What was recorded is started next, on an idle stream.
  void Replay(const std::vector<int>& recorded);

  // From any thread.
  int64_t finished() const;  // instructions, since Open; some more may have ended
  runtime::UnfinishedWork unfinished() const;

 private:
  // In memory of the host; the stream writes them.
  struct Ended {
    std::atomic<int64_t> started{0};   // of what was started one by one, since Open
    std::atomic<int64_t> replayed{0};  // of the recorded step that was started last
  };

  absl::Status Write(int64_t number);
  int64_t FinishedLocked() const;

  int instructions_of_mark_ = kInstructionsOfMark;
  const Gpu* gpu_ = nullptr;
  const Driver* driver_ = nullptr;
  cudaStream_t stream_ = nullptr;
  Ended* ended_ = nullptr;
  bool recording_ = false;     // this and the next two only the device's thread uses
  std::vector<int> recorded_;  // so far
  int64_t recorded_note_ = 0;  // the number that the recording writes last
  mutable std::mutex mutex_;   // of the rest
  int64_t settled_ = 0;        // instructions that were forgotten
  int64_t noted_ = 0;          // the number that the stream writes last
  std::vector<int> started_;   // those after them, in order
  bool replaying_ = false;     // they are those of a recorded step
};

}  // namespace yuba::cuda

#endif  // YUBA_RUNTIME_CUDA_MARKS_H_
