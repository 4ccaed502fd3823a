#include "runtime/executor.h"

#include <algorithm>
#include <chrono>
#include <random>
#include <thread>

#include "opsemantics/base/clock.h"
#include "opsemantics/base/start_thread.h"
#include "opsemantics/base/status.h"

namespace yuba::runtime {
void Cursor::Settle() {
  while (true) {
    if (!loops_.empty() && at_ == (*instructions_)[loops_.back().start].end) {
      if (--loops_.back().left > 0)
        at_ = loops_.back().start + 1;
      else
        loops_.pop_back();
    } else if (at_ < end_ && (*instructions_)[at_].is_loop()) {
      const Instruction& loop = (*instructions_)[at_];
      if (loop.end == at_ + 1) {
        at_ = loop.end;  // an empty body
      } else {
        loops_.push_back({at_, loop.count});
        ++at_;
      }
    } else {
      return;
    }
  }
}

// How far one device has come in the step.
struct Executor::Worker {
  Worker(const LoadedProgram& program, const program::EntryRange& entry)
      : cursor(program.instructions(), entry.begin, entry.end) {}
  Cursor cursor;
  bool begun = false;    // the instruction at the cursor
  bool waiting = false;  // blocked, in an interleaved step
};

Executor::Executor(const LoadedProgram& program, Fleet& fleet, bool trace)
    : program_(program),
      fleet_(fleet),
      at_(program.devices()),
      tracing_(trace),
      start_(Clock::now()),
      trace_(program.devices()) {}

// One step of the instruction at the cursor; moves on where that is done.
absl::StatusOr<Progress> Executor::Advance(int device, Worker& worker) {
  const int instruction = worker.cursor.instruction();
  at_[device] = instruction;
  if (!worker.begun) {
    for (const auto& watcher : fleet_.watchers) {
      YUBA_RETURN_IF_ERROR(watcher->Before(device, instruction));
    }
  }
  worker.begun = true;
  Progress progress = Progress::kDone;
  if (program_.instructions()[instruction].kernel != nullptr) {
    YUBA_RETURN_IF_ERROR(fleet_.devices[device]->Run(instruction));
  } else {
    YUBA_ASSIGN_OR_RETURN(
        progress, fleet_.communicator->Advance(device, instruction, fleet_.plans[instruction]));
  }
  if (progress != Progress::kDone) return progress;
  for (const auto& watcher : fleet_.watchers) {
    YUBA_RETURN_IF_ERROR(watcher->After(device, instruction));
  }
  worker.cursor.Next();
  worker.begun = false;
  return progress;
}

absl::Status Executor::WaitForPeer(int device, int instruction, double timeout_seconds) {
  Communicator& communicator = *fleet_.communicator;
  const ExchangePlan& plan = fleet_.plans[instruction];
  const auto timeout = std::chrono::duration_cast<Clock::duration>(
      std::chrono::duration<double>(std::min(timeout_seconds, 1e9)));
  communicator.Wait(device, plan, Clock::now() + timeout);
  if (communicator.aborted()) return absl::CancelledError("the run has failed on another device");
  const int peer = communicator.WaitsFor(device, plan);
  if (peer < 0) return absl::OkStatus();
  return absl::DeadlineExceededError(absl::StrCat("waited ", timeout_seconds, " s for device ",
                                                  peer, ", which is at ",
                                                  program_.Describe(at_[peer])));
}

// Blocks until the device has finished the step, and fails where that went wrong or a kernel met an
// index outside of its extent.
absl::Status Executor::EndOnDevice(int device) {
  YUBA_RETURN_IF_ERROR(fleet_.devices[device]->Synchronize());
  YUBA_ASSIGN_OR_RETURN(const Device::BadIndex bad, fleet_.devices[device]->TakeBadIndex());
  if (bad.instruction < 0) return absl::OkStatus();
  at_[device] = bad.instruction;
  return BadIndexError(program_, bad.instruction, bad.record);
}

void Executor::RunDevice(int device, int entry, double timeout_seconds) {
  const double start = SecondsSince(start_);
  Times own;
  Worker worker(program_, program_.entries()[entry]);
  absl::Status status = fleet_.devices[device]->EnterThread();
  double now = SecondsSince(start_);
  const auto note = [&](int instruction, bool waiting, double& sum) {
    const double begin = now;
    now = SecondsSince(start_);
    sum += now - begin;
    if (tracing_) trace_[device].push_back({instruction, waiting, begin, now});
  };
  double computing = 0;
  while (status.ok() && !worker.cursor.done() && !fleet_.communicator->aborted()) {
    const int instruction = worker.cursor.instruction();
    const bool exchange = program_.instructions()[instruction].exchange != nullptr;
    const absl::StatusOr<Progress> progress = Advance(device, worker);
    status = progress.status();
    // What is traced is waited for, so that its time is its own where a device works behind.
    if (status.ok() && tracing_) status = fleet_.devices[device]->Synchronize();
    note(instruction, false, exchange ? own.copying : computing);
    if (status.ok() && *progress == Progress::kBlocked) {
      status = WaitForPeer(device, instruction, timeout_seconds);
      note(instruction, true, own.waiting);
    }
  }
  if (status.ok()) status = EndOnDevice(device);
  if (!status.ok()) Fail(device, at_[device], status);
  std::lock_guard<std::mutex> lock(mutex_);
  times_.copying += own.copying;
  times_.waiting += own.waiting;
  times_.all += SecondsSince(start_) - start;
}

void Executor::Fail(int device, int instruction, const absl::Status& cause) {
  Fail(Annotate(cause, absl::StrCat("device ", device, ", ", program_.Describe(instruction))));
}

void Executor::Fail(const absl::Status& cause) {
  {
    std::lock_guard<std::mutex> lock(mutex_);
    if (failure_.ok() && !absl::IsCancelled(cause)) failure_ = cause;
  }
  fleet_.communicator->Abort();
}

absl::Status Executor::Finish() {
  if (fleet_.communicator->aborted()) fleet_.communicator->Reset();
  return std::move(failure_);
}

absl::Status Executor::RunThreads(int entry, double timeout_seconds) {
  failure_ = absl::OkStatus();
  times_ = Times();
  std::vector<std::thread> threads;
  for (int device = 1; device < program_.devices(); ++device) {
    const bool started = StartThread(threads, [this, device, entry, timeout_seconds] {
      RunDevice(device, entry, timeout_seconds);
    });
    if (started) continue;
    Fail(absl::ResourceExhaustedError(absl::StrCat("the system gives no thread for device ", device,
                                                   " of ", program_.devices())));
    break;
  }
  if (static_cast<int>(threads.size()) == program_.devices() - 1) {
    RunDevice(0, entry, timeout_seconds);
  }
  for (std::thread& thread : threads) thread.join();
  return Finish();
}

absl::Status Executor::RunInterleaved(int entry, uint64_t seed) {
  failure_ = absl::OkStatus();
  std::mt19937_64 random(seed);
  std::vector<Worker> workers(program_.devices(), Worker(program_, program_.entries()[entry]));
  std::vector<int> ready;  // devices that are not known to be blocked
  for (int device = 0; device < program_.devices(); ++device) {
    YUBA_RETURN_IF_ERROR(fleet_.devices[device]->EnterThread());
    if (!workers[device].cursor.done()) ready.push_back(device);
  }
  while (!ready.empty()) {
    const size_t chosen = random() % ready.size();
    const int device = ready[chosen];
    Worker& worker = workers[device];
    const int instruction = worker.cursor.instruction();
    const absl::StatusOr<Progress> progress = Advance(device, worker);
    if (!progress.ok()) {
      Fail(device, instruction, progress.status());
      return Finish();
    }
    worker.waiting = *progress == Progress::kBlocked;
    if (worker.waiting || worker.cursor.done()) {
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
  for (int device = 0; device < program_.devices(); ++device) {
    if (!workers[device].waiting) {
      const absl::Status end = EndOnDevice(device);
      if (!end.ok()) Fail(device, at_[device], end);
      continue;
    }
    const int instruction = workers[device].cursor.instruction();
    const int peer = fleet_.communicator->WaitsFor(device, fleet_.plans[instruction]);
    Fail(device, instruction,
         InternalError("deadlock: waits for device ", peer, ", which is at ",
                       workers[peer].cursor.done()
                           ? "the end"
                           : program_.Describe(workers[peer].cursor.instruction())));
    break;
  }
  return Finish();
}

}  // namespace yuba::runtime
