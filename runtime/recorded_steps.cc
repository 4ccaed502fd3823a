// The executor's steps that are recorded and then started by one call.
#include <future>
#include <iostream>
#include <memory>
#include <string>

#include "absl/strings/str_cat.h"
#include "opsemantics/base/clock.h"
#include "opsemantics/base/status.h"
#include "runtime/executor.h"
#include "runtime/executor_worker.h"

namespace yuba::runtime {

void Executor::SayOneByOne(const std::string& why) {
  one_by_one_ = true;
  std::cerr << "note: instructions are started one by one, and not as " << fleet_.recorder->Name()
            << ": " << why << "\n";
}

bool Executor::MayRecord(int entry) {
  if (fleet_.recorder == nullptr || one_by_one_ || !recordings_[entry].has_run) return false;
  const std::string why = tracing_                   ? "a trace waits for each of them"
                          : !fleet_.watchers.empty() ? "a guard looks between them"
                                                     : "";
  if (!why.empty()) SayOneByOne(why);
  return why.empty();
}

// Starts the entry's instructions on all devices, each as far as others let it.
absl::Status Executor::StartAll(int entry) {
  std::vector<Worker> workers(program_.devices(), Worker(program_.entries()[entry]));
  bool advanced = true, all_done = false;
  while (advanced && !all_done) {
    advanced = false;
    all_done = true;
    for (const int device : own_) {
      Worker& worker = workers[device];
      while (!worker.done()) {
        YUBA_ASSIGN_OR_RETURN(const Progress progress, Advance(device, worker));
        if (progress == Progress::kBlocked) break;
        advanced = true;
      }
      all_done = all_done && worker.done();
    }
  }
  return all_done ? absl::OkStatus() : InternalError("devices wait for each other");
}

absl::Status Executor::Record(int entry) {
  for (const int device : own_) YUBA_RETURN_IF_ERROR(fleet_.devices[device]->EnterThread());
  YUBA_RETURN_IF_ERROR(fleet_.recorder->Begin());
  fleet_.communicator->SetRecording(true);
  const absl::Status started = StartAll(entry);
  fleet_.communicator->SetRecording(false);
  if (!started.ok()) {
    fleet_.recorder->Abandon();
    fleet_.communicator->Reset();  // exchanges stand where they were left
    return started;
  }
  YUBA_ASSIGN_OR_RETURN(recordings_[entry].step, fleet_.recorder->End());
  return absl::OkStatus();
}

// Where that fails, a line says so, and steps go on as before; an error only where it hangs. Ranks
// record the same steps or none: what one of them records, all must.
absl::Status Executor::TryToRecord(int entry, double patience_seconds) {
  const auto recorded = std::make_shared<absl::Status>();  // the thread may be left behind
  YUBA_RETURN_IF_ERROR(
      Run(1, [this, entry, recorded](int) { *recorded = Record(entry); }, patience_seconds));
  --step_;  // which was none
  bool failed = !recorded->ok();
  if (fleet_.job != nullptr) {
    YUBA_ASSIGN_OR_RETURN(failed, fleet_.job->AnyOf(failed));
  }
  if (!failed) return absl::OkStatus();
  recordings_[entry].step = nullptr;
  SayOneByOne(absl::StrCat(
      "recording a step failed",
      recorded->ok() ? std::string(" on another rank") : absl::StrCat(": ", recorded->message())));
  return absl::OkStatus();
}

// The thread of the first one starts the step for all; each then waits for its own device.
absl::Status Executor::RunRecorded(int entry, double patience_seconds) {
  const auto started = std::make_shared<std::promise<void>>();  // a thread may be left behind
  const std::shared_future<void> is_started = started->get_future().share();
  const auto run = [this, entry, started, is_started](int task) {
    if (task == 0) {
      StartRecorded(entry);
      started->set_value();
    }
    is_started.wait();
    EndRecorded(own_[task]);
  };
  return Run(static_cast<int>(own_.size()), run, patience_seconds);
}

void Executor::StartRecorded(int entry) {
  const program::EntryRange& range = program_.entries()[entry];
  if (fleet_.job != nullptr) fleet_.job->Enter(step_, range.begin);
  for (DeviceState& state : states_) {
    state.instruction = range.begin;
    state.done = range.end - range.begin;  // the host is through with all
  }
  absl::Status status = fleet_.devices[own_[0]]->EnterThread();
  if (status.ok()) status = recordings_[entry].step->Start();
  if (!status.ok()) return Fail(own_[0], range.begin, status);
  for (int i = range.begin; i < range.end; ++i) {
    if (program_.instructions()[i].has_exchange())
      fleet_.communicator->CountAgain(i, fleet_.plans[i]);
  }
}

void Executor::EndRecorded(int device) {
  const double start = SecondsSince(start_);
  absl::Status status = fleet_.devices[device]->EnterThread();
  if (status.ok()) status = EndOnDevice(device);
  if (!status.ok()) {
    Fail(device, states_[device].instruction, status);
    Drain(device);
  }
  states_[device].ended = true;
  std::lock_guard<std::mutex> lock(mutex_);
  times_.all += SecondsSince(start_) - start;
}

}  // namespace yuba::runtime
