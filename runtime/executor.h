// Runs one step of a program, which is one run of an entry, on all devices of a fleet: with a
// thread for each device, or with one thread that picks the next device by a seed. The second can
// be replayed, and other seeds try other orders, which finds missing dependencies. Each device runs
// the entry's instructions from start to end: a kernel goes to its Device, an exchange to the
// Communicator step by step.
//
// Where the fleet has a recorder (step_recorder.h), an entry's first threaded run is as above, the
// second records what it starts, and that and all later ones are started by one call. Not where
// something looks between instructions (a trace, watchers): then, and where recording fails, a line
// on stderr says so.
//
// A step comes to an end, whatever hangs: where no device finishes an instruction for as long as
// the caller's patience, it fails, and names the devices that stand still.
//
// Where several processes have a part of the devices each (ranks/job.h), every one of them runs the
// same entries in the same order, each on its own devices. What a device waits for on another rank
// is the job's to watch: the executor has patience with it.
#ifndef YUBA_RUNTIME_EXECUTOR_H_
#define YUBA_RUNTIME_EXECUTOR_H_

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "opsemantics/machine/machine.h"
#include "runtime/communicator.h"
#include "runtime/device.h"
#include "runtime/ranks/job.h"
#include "runtime/step_recorder.h"

namespace yuba::runtime {

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
  std::vector<std::unique_ptr<Device>> devices;  // [device]; null where another rank has it
  Job* job = nullptr;               // whose rank this process is; null: it has all devices
  std::vector<ExchangePlan> plans;  // [instruction]; empty plans for kernels and loops
  std::unique_ptr<Communicator> communicator;
  std::unique_ptr<StepRecorder> recorder;  // null: instructions are started one by one
  std::vector<std::unique_ptr<Watcher>> watchers;
};

// Those of this process, ascending.
std::vector<int> OwnDevices(const Fleet& fleet);

// What one device did, in seconds since the executor was made. Waiting for other devices is an
// event of its own. Steps are runs of entries; the first is 0.
struct TraceEvent {
  int step = 0;
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
  // failure ends the step on all devices, and so do `patience_seconds` in which no device finishes
  // an instruction (DeadlineExceeded). The error is the first failure and names device, instruction
  // and cause. After an error the fleet can run again, unless it is lost(), but what the arenas
  // hold is lost. ResourceExhausted where the system gives no thread for a device.
  absl::Status RunThreads(int entry, double patience_seconds);

  // The same with one thread; the order follows from `seed` alone. Devices that wait for each other
  // are found at once and are an Internal error.
  absl::Status RunInterleaved(int entry, uint64_t seed, double patience_seconds);

  // Why the fleet cannot run again after a failed step: a device cannot be used any more
  // (Device::Usable), or a thread hangs. OK where it can. What a lost fleet has started may never
  // end: then executor, fleet and program must live as long as the process, and nothing may wait
  // for them.
  const absl::Status& lost() const { return lost_; }

  // Seconds in the last threaded step, summed over the process's devices. Where devices work behind
  // the host's back, these are of the host, unless the run is traced.
  struct Times {
    double kernels[kKernelClasses] = {0, 0, 0, 0};  // by class of kernel
    double copying = 0;                             // in exchanges, not waiting
    double waiting = 0;                             // for other devices
    double all = 0;  // from the start of a device's thread to its end
  };
  const Times& times() const { return times_; }
  std::vector<TraceEvent>& trace(int device) { return trace_[device]; }

 private:
  struct Worker;
  // What messages need to know of a device while it runs; any thread reads it.
  struct DeviceState {
    std::atomic<int> instruction{0};  // where the host is
    std::atomic<int64_t> done{0};     // instructions of this step that the host is through with
    std::atomic<int64_t> before{0};   // instructions that the device had finished before the step
    std::atomic<int> waits_for{-1};   // the device that the host waits for; -1: for none
    std::atomic<bool> ended{false};
  };

  struct Recording {
    bool has_run = false;                // the entry, once
    std::unique_ptr<RecordedStep> step;  // null: it is not recorded yet
  };

  bool MayRecord(int entry);
  void SayOneByOne(const std::string& why);
  absl::Status StartAll(int entry);
  absl::Status Record(int entry);
  absl::Status TryToRecord(int entry, double patience_seconds);
  absl::Status RunRecorded(int entry, double patience_seconds);
  void StartRecorded(int entry);
  void EndRecorded(int device);
  absl::Status Run(int threads, const std::function<void(int)>& run, double patience_seconds);
  absl::StatusOr<Progress> Advance(int device, Worker& worker);
  absl::Status EndOnDevice(int device);
  void RunDevice(int device, int entry);
  void Interleave(int entry, uint64_t seed);
  void EndInterleaved(const std::vector<Worker>& workers);
  absl::Status WaitForPeer(int device, int instruction);
  int64_t FinishedInstructions() const;
  bool WaitsForRank() const;
  void Drain(int device);
  UnfinishedWork StandsAt(int device) const;
  int64_t DoneOf(int device) const;
  std::string Describe(const std::vector<int>& devices, const UnfinishedWork& work) const;
  void Stalled(double seconds);
  void Fail(int device, int instruction, const absl::Status& cause);
  void Fail(const absl::Status& cause);
  absl::Status Finish();

  const LoadedProgram& program_;
  Fleet& fleet_;
  const std::vector<int> own_;         // the devices of this process
  std::vector<KernelClass> class_of_;  // [instruction], of kernels
  std::vector<DeviceState> states_;    // [device]
  std::atomic<int64_t> advanced_{0};   // steps of instructions that the host has made
  std::atomic<bool> failed_{false};    // the step has failed: devices are to end it
  std::atomic<bool> hopeless_{false};  // and some device may never end it
  std::mutex mutex_;                   // of failure_, lost_ and times_
  absl::Status failure_;               // the first of the step
  absl::Status lost_;
  Times times_;
  const bool tracing_;
  const std::chrono::steady_clock::time_point start_;
  std::vector<std::vector<TraceEvent>> trace_;  // [device]
  int step_ = -1;                               // the one that runs
  bool one_by_one_ = false;                     // it was said why steps are not recorded
  std::vector<Recording> recordings_;           // [entry]
};

}  // namespace yuba::runtime

#endif  // YUBA_RUNTIME_EXECUTOR_H_
