// Runs one step of a program, which is one run of an entry, on all devices of a fleet: with a
// thread for each device, or with one thread that picks the next device by a seed. The second can
// be replayed, and other seeds try other orders, which finds missing dependencies. Each device runs
// the entry's instructions from start to end: a kernel goes to its Device, an exchange to the
// Communicator step by step.
#ifndef YUBA_RUNTIME_EXECUTOR_H_
#define YUBA_RUNTIME_EXECUTOR_H_

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "absl/status/status.h"
#include "runtime/communicator.h"
#include "runtime/device.h"

namespace yuba::runtime {

// Walks the kernels and exchanges from `begin` to `end` of a program's instructions in the order of
// execution, through its loops. In the list {loop to 3, twice; A; B; C} it stands at A, B, A, B, C:
// instructions 1, 2, 1, 2, 3.
class Cursor {
 public:
  Cursor(const std::vector<Instruction>& instructions, int begin, int end)
      : instructions_(&instructions), at_(begin), end_(end) {
    Settle();
  }
  bool done() const { return at_ == end_; }
  int instruction() const { return at_; }
  void Next() {
    ++at_;
    Settle();
  }

 private:
  struct Loop {
    int start = 0;
    int64_t left = 0;  // runs to go, the current one included
  };
  void Settle();

  const std::vector<Instruction>* instructions_;
  std::vector<Loop> loops_;
  int at_ = 0;
  int end_ = 0;
};

// Called around each instruction of each device, for debugging (arena_watch.h, nan_watch.h). Before
// comes before an exchange's first step, After after its last. In threaded steps the calls come
// from the devices' threads. An error ends the step.
class Watcher {
 public:
  virtual ~Watcher() = default;
  virtual absl::Status Before(int device, int instruction) = 0;
  virtual absl::Status After(int device, int instruction) = 0;
};

// All that a step runs on. The communicator may refer to the devices and is freed before them.
struct Fleet {
  std::vector<std::unique_ptr<Device>> devices;
  std::unique_ptr<Communicator> communicator;
  std::vector<ExchangePlan> plans;  // [instruction]; empty plans for kernels and loops
  std::vector<std::unique_ptr<Watcher>> watchers;
};

// What one device did, in seconds since the executor was made. Waiting for other devices is an
// event of its own.
struct TraceEvent {
  int instruction = 0;
  bool waiting = false;
  double begin = 0, end = 0;
};

class Executor {
 public:
  // Program and fleet must outlive the executor. With `trace`, what each device does in threaded
  // steps is noted.
  Executor(const LoadedProgram& program, Fleet& fleet, bool trace);

  // One run of entry number `entry` with a thread for each device; blocks until all have ended. A
  // failure ends the step on all devices, and so does a wait for another device that is longer than
  // `timeout_seconds` (DeadlineExceeded). The error is the first failure and names device,
  // instruction and cause. After an error the fleet can run again, but what the arenas hold is
  // lost. ResourceExhausted where the system gives no thread for a device. A kernel that never
  // returns is not bounded.
  absl::Status RunThreads(int entry, double timeout_seconds);

  // The same in the calling thread; the order follows from `seed` alone. Devices that wait for each
  // other are found at once and are an Internal error.
  absl::Status RunInterleaved(int entry, uint64_t seed);

  // Seconds in the last threaded step, summed over the devices.
  struct Times {
    double copying = 0;  // in exchanges, not waiting
    double waiting = 0;  // for other devices
    double all = 0;      // from the start of a device's thread to its end
  };
  const Times& times() const { return times_; }
  const std::vector<TraceEvent>& trace(int device) const { return trace_[device]; }

 private:
  struct Worker;
  absl::StatusOr<Progress> Advance(int device, Worker& worker);
  absl::Status EndOnDevice(int device);
  void RunDevice(int device, int entry, double timeout_seconds);
  absl::Status WaitForPeer(int device, int instruction, double timeout_seconds);
  void Fail(int device, int instruction, const absl::Status& cause);
  void Fail(const absl::Status& cause);
  absl::Status Finish();

  const LoadedProgram& program_;
  Fleet& fleet_;
  std::vector<std::atomic<int>> at_;  // [device] its instruction, for messages
  std::mutex mutex_;                  // of failure_ and times_
  absl::Status failure_;              // the first of the step
  Times times_;
  const bool tracing_;
  const std::chrono::steady_clock::time_point start_;
  std::vector<std::vector<TraceEvent>> trace_;  // [device]
};

}  // namespace yuba::runtime

#endif  // YUBA_RUNTIME_EXECUTOR_H_
