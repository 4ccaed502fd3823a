#include "runtime/executor.h"

#include <algorithm>
#include <random>

#include "absl/strings/str_join.h"
#include "opsemantics/base/clock.h"
#include "opsemantics/base/status.h"
#include "runtime/executor_worker.h"
#include "runtime/program/work.h"
#include "runtime/watched_threads.h"

namespace yuba::runtime {

std::vector<int> OwnDevices(const Fleet& fleet) {
  std::vector<int> own;
  for (size_t device = 0; device < fleet.devices.size(); ++device) {
    if (fleet.devices[device] != nullptr) own.push_back(static_cast<int>(device));
  }
  return own;
}

namespace {

// Whether what a device does behind the host's back may be an exchange with another one.
bool MayStandAtExchange(const LoadedProgram& program, const Fleet& fleet, int device) {
  const UnfinishedWork work = fleet.devices[device]->unfinished();
  return std::any_of(work.candidates.begin(), work.candidates.end(), [&](int i) {
    return program.instructions()[i].has_exchange() &&
           fleet.communicator->WaitsFor(device, fleet.plans[i]) >= 0;
  });
}

}  // namespace

Executor::Executor(const LoadedProgram& program, Fleet& fleet, bool trace)
    : program_(program),
      fleet_(fleet),
      own_(OwnDevices(fleet)),
      states_(program.devices()),
      tracing_(trace),
      start_(Clock::now()),
      trace_(program.devices()),
      recordings_(program.entries().size()) {
  for (const program::Instruction& instruction : program.instructions()) {
    class_of_.push_back(instruction.has_kernel()
                            ? program::KernelClassOf(program.message(), instruction.kernel())
                            : KernelClass::kMap);
  }
}

// One step of the next instruction; moves on where that is done.
absl::StatusOr<Progress> Executor::Advance(int device, Worker& worker) {
  const int instruction = worker.at;
  states_[device].instruction = instruction;
  if (!worker.begun) {
    if (fleet_.job != nullptr) fleet_.job->Enter(step_ + 1, instruction);
    for (const auto& watcher : fleet_.watchers) {
      YUBA_RETURN_IF_ERROR(watcher->Before(device, instruction));
    }
  }
  worker.begun = true;
  Progress progress = Progress::kDone;
  if (program_.instructions()[instruction].has_kernel()) {
    YUBA_RETURN_IF_ERROR(fleet_.devices[device]->Run(instruction));
  } else {
    YUBA_ASSIGN_OR_RETURN(
        progress, fleet_.communicator->Advance(device, instruction, fleet_.plans[instruction]));
  }
  if (progress != Progress::kBlocked) ++advanced_;
  if (progress != Progress::kDone) return progress;
  ++states_[device].done;
  for (const auto& watcher : fleet_.watchers) {
    YUBA_RETURN_IF_ERROR(watcher->After(device, instruction));
  }
  ++worker.at;
  worker.begun = false;
  return progress;
}

absl::Status Executor::WaitForPeer(int device, int instruction) {
  const ExchangePlan& plan = fleet_.plans[instruction];
  states_[device].waits_for = fleet_.communicator->WaitsFor(device, plan);
  fleet_.communicator->Wait(device, plan);
  states_[device].waits_for = -1;
  if (fleet_.communicator->aborted()) return absl::CancelledError("the run has failed elsewhere");
  return absl::OkStatus();
}

// Blocks until the device has finished the step, and fails where that went wrong or a kernel met an
// index outside of its extent.
absl::Status Executor::EndOnDevice(int device) {
  YUBA_RETURN_IF_ERROR(fleet_.devices[device]->Synchronize(hopeless_));
  YUBA_ASSIGN_OR_RETURN(const Device::BadIndex bad, fleet_.devices[device]->TakeBadIndex());
  if (bad.instruction < 0) return absl::OkStatus();
  states_[device].instruction = bad.instruction;
  return BadIndexError(program_, bad.instruction, bad.record);
}

// After a failed step, wherever it failed: the device ends what it has started and forgets what its
// kernels noted, so that the next step begins anew.
void Executor::Drain(int device) {
  if (fleet_.devices[device]->Synchronize(hopeless_).ok()) {
    fleet_.devices[device]->TakeBadIndex().IgnoreError();
  }
}

void Executor::RunDevice(int device, int entry) {
  const double start = SecondsSince(start_);
  Times own;
  Worker worker(program_.entries()[entry]);
  absl::Status status = fleet_.devices[device]->EnterThread();
  double now = SecondsSince(start_);
  const auto note = [&](int instruction, bool waiting, double& sum) {
    const double begin = now;
    now = SecondsSince(start_);
    sum += now - begin;
    if (tracing_) trace_[device].push_back({step_, instruction, waiting, begin, now});
  };
  while (status.ok() && !worker.done() && !fleet_.communicator->aborted()) {
    const int instruction = worker.at;
    const bool exchange = program_.instructions()[instruction].has_exchange();
    const absl::StatusOr<Progress> progress = Advance(device, worker);
    status = progress.status();
    // What is traced is waited for, so that its time is its own where a device works behind.
    if (status.ok() && tracing_) status = fleet_.devices[device]->Synchronize(hopeless_);
    note(instruction, false,
         exchange ? own.copying : own.kernels[static_cast<int>(class_of_[instruction])]);
    if (status.ok() && *progress == Progress::kBlocked) {
      status = WaitForPeer(device, instruction);
      note(instruction, true, own.waiting);
    }
  }
  if (status.ok()) status = EndOnDevice(device);
  if (!status.ok()) {
    Fail(device, states_[device].instruction, status);
    Drain(device);
  }
  states_[device].ended = true;
  std::lock_guard<std::mutex> lock(mutex_);
  for (int k = 0; k < kKernelClasses; ++k) times_.kernels[k] += own.kernels[k];
  times_.copying += own.copying;
  times_.waiting += own.waiting;
  times_.all += SecondsSince(start_) - start;
}

// Of a device whose work goes on behind the host's back, where that work stands.
UnfinishedWork Executor::StandsAt(int device) const {
  const UnfinishedWork work = fleet_.devices[device]->unfinished();
  return work.none() ? UnfinishedWork{{states_[device].instruction}} : work;
}

// How many instructions of the step are done there.
int64_t Executor::DoneOf(int device) const {
  const Device& own = *fleet_.devices[device];
  if (own.unfinished().none()) return states_[device].done;
  return own.finished() - states_[device].before;
}

// "device 1, instruction 8 (kernel y, from MatMul_7)"
std::string Executor::Describe(const std::vector<int>& devices, const UnfinishedWork& work) const {
  return absl::StrCat(devices.size() == 1 ? "device " : "devices ", absl::StrJoin(devices, ", "),
                      ", ", program_.Describe(work.candidates[0]),
                      work.candidates.size() > 1
                          ? absl::StrCat(" or one of the ", work.candidates.size() - 1,
                                         " behind it (--trace finds which)")
                          : "");
}

void Executor::Fail(int device, int instruction, const absl::Status& cause) {
  UnfinishedWork place = {{instruction}};
  const absl::Status usable = fleet_.devices[device]->Usable();
  if (!usable.ok()) {
    // What has broken the device is what it did, and not what the host asked of it then.
    place = StandsAt(device);
    std::lock_guard<std::mutex> lock(mutex_);
    lost_.Update(usable);
    hopeless_ = true;
  }
  Fail(Annotate(cause, Describe({device}, place)));
}

void Executor::Fail(const absl::Status& cause) {
  {
    std::lock_guard<std::mutex> lock(mutex_);
    if (failure_.ok() && !absl::IsCancelled(cause)) failure_ = cause;
  }
  failed_ = true;
  fleet_.communicator->Abort(cause);
}

int64_t Executor::FinishedInstructions() const {
  int64_t finished = advanced_;
  for (const int device : own_) finished += fleet_.devices[device]->finished();
  return finished;
}

// Whether the process's devices wait for those of another rank: the host for them, or their work
// behind its back.
bool Executor::WaitsForRank() const {
  return fleet_.job != nullptr && std::all_of(own_.begin(), own_.end(), [this](int device) {
           return states_[device].ended || states_[device].waits_for >= 0 ||
                  MayStandAtExchange(program_, fleet_, device);
         });
}

// Nothing has ended for so many seconds. Of the devices that compute, those that have come least
// far hold the others up. Comes from the watching thread, so it asks no device and no communicator.
void Executor::Stalled(double seconds) {
  hopeless_ = true;
  std::vector<int> slowest;
  int waiting = -1;
  for (const int device : own_) {
    const DeviceState& state = states_[device];
    if (state.ended) continue;
    if (state.waits_for >= 0 && waiting < 0) waiting = device;
    if (state.waits_for >= 0 && fleet_.devices[device]->unfinished().none()) continue;
    const int64_t done = DoneOf(device);
    if (!slowest.empty() && done > DoneOf(slowest[0])) continue;
    if (!slowest.empty() && done < DoneOf(slowest[0])) slowest.clear();
    slowest.push_back(device);
  }
  std::string words;
  if (!slowest.empty()) {
    words = absl::StrCat(Describe(slowest, StandsAt(slowest[0])), ": nothing");
  } else if (waiting >= 0) {
    words = absl::StrCat(Describe({waiting}, StandsAt(waiting)), ": waits for device ",
                         states_[waiting].waits_for.load(), ", and all others wait too; nothing");
  } else {
    words = "nothing";
  }
  Fail(absl::DeadlineExceededError(absl::StrCat(words, " has ended on any device for ", seconds,
                                                " s; --timeout allows longer")));
}

absl::Status Executor::Finish() {
  if (fleet_.communicator->aborted()) fleet_.communicator->Reset();
  return std::move(failure_);
}

absl::Status Executor::Run(int threads, const std::function<void(int)>& run,
                           double patience_seconds) {
  YUBA_RETURN_IF_ERROR(lost_);
  if (fleet_.job != nullptr) YUBA_RETURN_IF_ERROR(fleet_.job->ended());
  failure_ = absl::OkStatus();
  failed_ = hopeless_ = false;
  times_ = Times();
  ++step_;
  for (const int device : own_) {
    states_[device].instruction = 0;
    states_[device].done = 0;
    states_[device].before = fleet_.devices[device]->finished();
    states_[device].waits_for = -1;
    states_[device].ended = false;
  }
  Watch watch;
  watch.patience_seconds = patience_seconds;
  int64_t waiting = 0;
  watch.progress = [this, &waiting] {
    // After a failure nothing is waited for: what stands still is ended then.
    return FinishedInstructions() + (!failed_ && WaitsForRank() ? ++waiting : waiting);
  };
  watch.look = [this] {
    if (failed_) return;  // what is found then, end_work may be freeing
    const absl::Status status = fleet_.communicator->Check();
    if (status.ok()) return;
    hopeless_ = true;
    Fail(status);
  };
  watch.stalled = [this, patience_seconds] { Stalled(patience_seconds); };
  watch.failed = [this] { return failed_.load(); };
  watch.hopeless = [this] { return hopeless_.load(); };
  watch.end_work = [this] { fleet_.communicator->EndWork(); };
  watch.not_started = [this](int task) {
    Fail(absl::ResourceExhaustedError(absl::StrCat("the system gives no thread for device ",
                                                   own_[task], " of ", program_.devices())));
  };
  if (RunWatched(threads, run, watch)) {
    std::lock_guard<std::mutex> lock(mutex_);
    lost_.Update(absl::InternalError("a thread of the step never came back"));
    return failure_;
  }
  // Devices that were only cancelled have not failed by themselves: their job has ended.
  const absl::Status ended = fleet_.communicator->Check();
  if (failure_.ok() && !ended.ok()) Fail(ended);
  if (!failed_) return Finish();
  for (const int device : own_) lost_.Update(fleet_.devices[device]->Usable());
  if (!lost_.ok()) return failure_;
  // Exchanges that failed by themselves are not there any more when the next step begins.
  if (!fleet_.communicator->Check().ok()) fleet_.communicator->EndWork();
  return Finish();
}

absl::Status Executor::RunThreads(int entry, double patience_seconds) {
  Recording& recording = recordings_[entry];
  if (recording.step == nullptr && MayRecord(entry))
    YUBA_RETURN_IF_ERROR(TryToRecord(entry, patience_seconds));
  if (recording.step != nullptr) return RunRecorded(entry, patience_seconds);
  YUBA_RETURN_IF_ERROR(Run(
      static_cast<int>(own_.size()), [this, entry](int task) { RunDevice(own_[task], entry); },
      patience_seconds));
  recording.has_run = true;
  return absl::OkStatus();
}

absl::Status Executor::RunInterleaved(int entry, uint64_t seed, double patience_seconds) {
  return Run(1, [this, entry, seed](int) { Interleave(entry, seed); }, patience_seconds);
}

void Executor::Interleave(int entry, uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<Worker> workers(program_.devices(), Worker(program_.entries()[entry]));
  std::vector<int> ready;  // devices that are not known to be blocked
  for (int device = 0; device < program_.devices(); ++device) {
    const absl::Status entered = fleet_.devices[device]->EnterThread();
    if (!entered.ok()) return Fail(device, 0, entered);
    if (!workers[device].done()) ready.push_back(device);
  }
  while (!ready.empty()) {
    const size_t chosen = random() % ready.size();
    const int device = ready[chosen];
    Worker& worker = workers[device];
    const int instruction = worker.at;
    const absl::StatusOr<Progress> progress = Advance(device, worker);
    if (!progress.ok()) {
      Fail(device, instruction, progress.status());
      break;
    }
    worker.waiting = *progress == Progress::kBlocked;
    if (worker.waiting || worker.done()) {
      ready[chosen] = ready.back();
      ready.pop_back();
    }
    if (worker.waiting) continue;
    for (int other = 0; other < program_.devices(); ++other) {  // the step may have released some
      if (!workers[other].waiting) continue;
      workers[other].waiting = false;
      ready.push_back(other);
    }
  }
  if (!failed_) EndInterleaved(workers);
  for (int device = 0; device < program_.devices() && failed_; ++device) Drain(device);
}

void Executor::EndInterleaved(const std::vector<Worker>& workers) {
  for (int device = 0; device < program_.devices(); ++device) {
    if (!workers[device].waiting) {
      const absl::Status end = EndOnDevice(device);
      if (!end.ok()) Fail(device, states_[device].instruction, end);
      continue;
    }
    const int instruction = workers[device].at;
    const int peer = fleet_.communicator->WaitsFor(device, fleet_.plans[instruction]);
    return Fail(
        device, instruction,
        InternalError("deadlock: waits for device ", peer, ", which is at ",
                      workers[peer].done() ? "the end" : program_.Describe(workers[peer].at)));
  }
}

}  // namespace yuba::runtime
