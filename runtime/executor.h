// Runs one step of a program on all devices: a thread for each, or one thread that interleaves
// their instructions by a seed, which can be replayed and finds missing dependencies.
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

// Walks the places of a program that are kernels and exchanges, in the order of execution.
class Cursor {
 public:
  explicit Cursor(const std::vector<Instruction>& instructions) : instructions_(&instructions) {
    Settle();
  }
  bool done() const { return at_ == static_cast<int>(instructions_->size()); }
  int instruction() const { return at_; }
  void Next() {
    ++at_;
    Settle();
  }

 private:
  struct Loop {
    int start = 0;
    int64_t left = 0;  // runs, the current one included
  };
  void Settle();

  const std::vector<Instruction>* instructions_;
  std::vector<Loop> loops_;
  int at_ = 0;
};

// What is looked after around each instruction of a device, for debugging (arena_watch.h).
class Watcher {
 public:
  virtual ~Watcher() = default;
  virtual absl::Status Before(int device, int instruction) = 0;
  virtual absl::Status After(int device, int instruction) = 0;
};

struct Fleet {
  std::vector<std::unique_ptr<Device>> devices;
  std::unique_ptr<Communicator> communicator;
  std::vector<ExchangePlan> plans;   // by place
  std::unique_ptr<Watcher> watcher;  // may be null
};

// One device at one instruction, in seconds since the executor was made. Waiting for other devices
// is an event of its own.
struct TraceEvent {
  int instruction = 0;
  bool waiting = false;
  double begin = 0, end = 0;
};

class Executor {
 public:
  // With `trace`, what each device does in threaded steps is noted.
  Executor(const LoadedProgram& program, Fleet& fleet, bool trace);

  // A failure, or a wait longer than `timeout_seconds`, ends the step on all devices; the error
  // names device, instruction and cause. After an error the fleet can be used again, with lost
  // contents.
  absl::Status RunThreads(double timeout_seconds);

  // The same, deterministic; a deadlock is an error.
  absl::Status RunInterleaved(uint64_t seed);

  // Seconds of all devices in the last threaded step.
  struct Times {
    double copying = 0;  // in exchanges, not waiting
    double waiting = 0;  // for other devices
    double all = 0;
  };
  const Times& times() const { return times_; }
  const std::vector<TraceEvent>& trace(int device) const { return trace_[device]; }

 private:
  struct Worker;
  absl::StatusOr<Progress> Advance(int device, Worker& worker);
  void RunDevice(int device, double timeout_seconds);
  absl::Status WaitForPeer(int device, int instruction, double timeout_seconds);
  void Fail(int device, int instruction, const absl::Status& cause);
  absl::Status Finish();

  const LoadedProgram& program_;
  Fleet& fleet_;
  std::vector<std::atomic<int>> at_;  // the place each device is at, for messages
  std::mutex mutex_;
  absl::Status failure_;  // the first
  Times times_;
  const bool tracing_;
  const std::chrono::steady_clock::time_point start_;
  std::vector<std::vector<TraceEvent>> trace_;  // by device
};

}  // namespace yuba::runtime

#endif  // YUBA_RUNTIME_EXECUTOR_H_
