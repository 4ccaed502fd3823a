#include "tools/run/run_loop.h"

#include <algorithm>
#include <cmath>
#include <iostream>
#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/types/optional.h"
#include "opsemantics/base/clock.h"
#include "opsemantics/base/status.h"
#include "tools/report/text_table.h"
#include "tools/run/checkpoint/checkpoint.h"
#include "tools/run/evaluation.h"
#include "tools/run/learning_rate.h"
#include "tools/run/milestones.h"
#include "tools/run/progress.h"
#include "tools/run/ranks.h"
#include "tools/run/step_inputs.h"
#include "tools/run/step_log.h"
#include "tools/run/stop_request.h"

namespace yuba::tools {
namespace {

absl::Status MakeUpValues(runtime::Session& session, const std::string& random) {
  if (random.empty()) return absl::OkStatus();
  YUBA_ASSIGN_OR_RETURN(const uint64_t seed, RandomSeed(random));
  return session.Randomize(seed);
}

bool HasInit(const runtime::Session& session) {
  const std::vector<program::EntryRange>& entries = session.program().entries();
  return std::any_of(entries.begin(), entries.end(),
                     [](const auto& entry) { return entry.name == program::kInitEntry; });
}

// The table of --log; null without it.
absl::StatusOr<std::unique_ptr<StepLog>> OpenLog(const runtime::Session& session,
                                                 const RunFlags& flags, const RunFiles& files) {
  if (flags.log.empty() || !session.IsFirstRank()) return std::unique_ptr<StepLog>();
  std::vector<std::string> columns;
  const auto add = [&](const std::string& name) {
    if (std::count(columns.begin(), columns.end(), name) == 0) columns.push_back(name);
  };
  for (const EntryRun& run : files.runs) {
    for (const std::string& entry : {run.reading, run.entry}) {
      for (const std::string& name : NumberNames(session.program(), entry)) add(name);
    }
  }
  if (files.lr.has_value() || files.planned_lr.has_value()) add(kLearningRate);
  if (files.eval.has_value()) {
    for (const std::string& name : NumberNames(session.program(), files.eval->entry)) add(name);
  }
  const bool goes_on = files.checkpoint.has_value();
  return StepLog::Open(flags.log, std::move(columns), goes_on,
                       goes_on ? files.checkpoint->step : 0);
}

// Seconds that the rest of a run will take, when `done` of its steps have taken `seconds`.
double SecondsLeft(double seconds, int64_t done, int64_t left) {
  return seconds / static_cast<double>(done) * static_cast<double>(left);
}

// Runs the steps of one entry; the values of the first are in place.
class StepLoop {
 public:
  StepLoop(runtime::Session& session, const RunFlags& flags, RunFiles& files, OutputCheck& check,
           StopRequest& stop, StepLog* log, const Milestones& milestones, Record* record)
      : session_(session),
        flags_(flags),
        stop_(stop),
        log_(log),
        milestones_(milestones),
        planned_lr_(files.lr.has_value() ? absl::nullopt : files.planned_lr),
        facts_(files.facts),
        numbers_(files.numbers),
        check_(check),
        record_(record),
        rate_(files),
        evaluation_(session, files, stop, flags.json, record) {}

  // Runs all but the first `done` steps, or fewer where a signal came.
  absl::Status Run(const EntryRun& run, StepInputs& inputs, int64_t done) {
    const bool one_by_one = run.batches != nullptr;
    start_ = Clock::now();
    begin_ = done_ = saved_ = done;
    while (done_ < run.times) {
      YUBA_RETURN_IF_ERROR(stop_.Look());
      if (stop_.came()) break;
      if (done_ > begin_ && one_by_one) YUBA_RETURN_IF_ERROR(inputs.Set(session_));
      StepReport report;
      YUBA_RETURN_IF_ERROR(RunStep(run, inputs, done_ + 1, report));
      ++done_;
      if (run.entry != program::kInitEntry) milestones_.Tell(Reached::kStep, done_);
      if (one_by_one) {
        YUBA_RETURN_IF_ERROR(check_.Check(session_, run.outputs, inputs.expected(), done_));
      }
      const bool due = flags_.save_every > 0 && done_ % flags_.save_every == 0;
      if (due && run.entry != program::kInitEntry) YUBA_RETURN_IF_ERROR(Save(run));
      const bool evaluates = EvaluationDue(run);
      if (evaluates) {
        YUBA_RETURN_IF_ERROR(evaluation_.Run(absl::StrCat(run.entry, " ", done_), inputs));
      }
      YUBA_RETURN_IF_ERROR(Log(run, report, evaluates));
    }
    if (one_by_one || done_ < run.times) return absl::OkStatus();
    return check_.Check(session_, run.outputs, inputs.expected(), 0);
  }

  int64_t done() const { return done_; }  // steps, with those before the run

  // Writes a checkpoint, unless nothing has changed since the last one.
  absl::Status Save(const EntryRun& run) {
    if (flags_.save.empty() || saved_ == done_) return absl::OkStatus();
    if (run.batches != nullptr) facts_.position = run.batches->After(done_);
    // Disks may take long.
    if (session_.job() != nullptr) session_.job()->SetBusy(session_.IsFirstRank());
    YUBA_RETURN_IF_ERROR(
        SaveCheckpoint(session_, flags_.save, done_, flags_.shard_bytes, facts_, numbers_));
    if (session_.job() != nullptr) session_.job()->SetBusy(false);
    saved_ = done_;
    milestones_.Tell(Reached::kCheckpoint, done_);
    return absl::OkStatus();
  }

  // Of a run that a signal ended.
  absl::Status Interrupted(const EntryRun& run) const {
    return AsOutcome(absl::CancelledError(absl::StrCat(
        "interrupted after ", run.entry, " ", done_, " of ", run.times,
        flags_.save.empty() ? ""
                            : absl::StrCat("; --resume ", flags_.save, " goes on from there"))));
  }

 private:
  bool EvaluationDue(const EntryRun& run) const {
    if (!evaluation_.wanted() || run.entry == program::kInitEntry) return false;
    return done_ == run.times || (flags_.eval_every > 0 && done_ % flags_.eval_every == 0);
  }

  absl::Status Log(const EntryRun& run, const StepReport& report, bool evaluated) {
    if (log_ == nullptr) return absl::OkStatus();
    Numbers numbers = report.numbers;
    if (planned_lr_.has_value()) numbers.push_back({kLearningRate, planned_lr_->At(done_), ""});
    if (evaluated) {
      numbers.insert(numbers.end(), evaluation_.numbers().begin(), evaluation_.numbers().end());
    }
    return log_->Add(run.entry, done_, numbers, report);
  }

  absl::Status RunStep(const EntryRun& run, StepInputs& inputs, int64_t step, StepReport& report) {
    Means means;
    report.name = absl::StrCat(run.entry, " ", step);
    Numbers rate;
    if (run.entry != program::kInitEntry) {
      YUBA_RETURN_IF_ERROR(rate_.Set(session_, step, rate));
      YUBA_RETURN_IF_ERROR(session_.RunInitIfDue());  // what it moves is no part of the step
    }
    for (int64_t part = 0; part < run.parts; ++part) {
      YUBA_RETURN_IF_ERROR(inputs.SetPart(session_, part));
      const std::string where =
          run.parts > 1 ? absl::StrCat(report.name, ", part ", part + 1, " of ", run.parts)
                        : report.name;
      YUBA_RETURN_IF_ERROR(Annotate(RunEntry(run.reading, means, report), where));
    }
    if (run.entry != run.reading) {
      YUBA_RETURN_IF_ERROR(Annotate(RunEntry(run.entry, means, report), report.name));
    }
    report.numbers = means.Values();
    report.numbers.insert(report.numbers.end(), rate.begin(), rate.end());
    record_->seconds.push_back(report.seconds);
    for (const Number& number : report.numbers) {
      record_->numbers[number.name].push_back(number.value);
    }
    HintAtNan(report);
    report.examples = run.examples;
    if (flags_.json) return absl::OkStatus();
    const runtime::Statistics now = session_.statistics();
    report.memory = now.arena_bytes + now.workspace_bytes;
    report.timed = flags_.SeesKinds();
    report.left = SecondsLeft(SecondsSince(start_), step - begin_, run.times - step);
    std::cout << LineOf(report) << "\n" << std::flush;
    return absl::OkStatus();
  }

  // A run of an entry that is part of a step. Adds to the report what it took and moved, and its
  // numbers to the means.
  absl::Status RunEntry(const std::string& entry, Means& means, StepReport& report) {
    const int64_t before = session_.statistics().bytes;
    YUBA_RETURN_IF_ERROR(session_.Step(entry));
    const runtime::Statistics now = session_.statistics();
    const int64_t moved = now.bytes - before;
    const auto planned = flags_.planned_bytes.find(entry);
    if (planned != flags_.planned_bytes.end() && moved != planned->second) {
      return InternalError("the entry ", entry, " moved ", moved, " bytes, the plan promises ",
                           planned->second);
    }
    report.moved += moved;
    const double seconds = report.seconds + now.seconds;
    const auto share = [&](double of_all, double of_this) {
      return seconds > 0 ? (of_all * report.seconds + of_this * now.seconds) / seconds : of_this;
    };
    report.copying = share(report.copying, now.copy_share);
    report.waiting = share(report.waiting, now.wait_share);
    report.seconds = seconds;
    YUBA_ASSIGN_OR_RETURN(const Numbers numbers, NumbersOf(session_, entry));
    means.Add(numbers);
    return absl::OkStatus();
  }

  // Once, where a number of the step is not finite.
  void HintAtNan(const StepReport& report) {
    for (const Number& number : report.numbers) {
      const bool of_nothing =
          IsWeightless(report.numbers) && WeightOf(report.numbers, number.name) != nullptr;
      if (std::isfinite(number.value) || of_nothing || hinted_) continue;
      std::cerr << "note: " << number.name << " of " << report.name << " is "
                << NumberText(number.value)
                << "; --guard nan says which instruction made the first such number\n";
      hinted_ = true;
    }
  }

  runtime::Session& session_;
  const RunFlags& flags_;
  StopRequest& stop_;
  StepLog* const log_;  // null: there is none
  const Milestones& milestones_;
  absl::optional<Schedule> planned_lr_;               // where no flag or checkpoint sets a rate
  RunFacts facts_;                                    // position: of the last checkpoint
  const std::map<std::string, TensorData>& numbers_;  // of the code, other than the model's
  OutputCheck& check_;
  Record* const record_;
  LearningRate rate_;
  Evaluation evaluation_;
  Clock::time_point start_;       // of the entry's run
  int64_t begin_ = 0, done_ = 0;  // steps that were done before it, and are now
  int64_t saved_ = 0;             // the step of the last checkpoint
  bool hinted_ = false;
};

// The entry that computes what never changes, once.
absl::Status RunInit(runtime::Session& session, const RunFlags& flags, RunFiles& files,
                     OutputCheck& check, StopRequest& stop, const Milestones& milestones) {
  EntryRun run;
  run.entry = run.reading = program::kInitEntry;
  StepInputs none(run, 0);
  Record not_of_steps;
  return StepLoop(session, flags, files, check, stop, nullptr, milestones, &not_of_steps)
      .Run(run, none, 0);
}

}  // namespace

absl::Status RunAll(runtime::Session& session, const RunFlags& flags, RunFiles& files,
                    OutputCheck& check, Record* record) {
  YUBA_ASSIGN_OR_RETURN(const std::unique_ptr<StepLog> log, OpenLog(session, flags, files));
  StopRequest stop(session.job());
  const Milestones milestones(session.IsFirstRank() ? flags.milestones : "");
  for (size_t r = 0; r < files.runs.size(); ++r) {
    EntryRun& run = files.runs[r];
    const int64_t done = files.checkpoint.has_value() ? files.checkpoint->step : 0;
    if (r == 0) record->first_step = done + 1;
    StepInputs inputs(run, done);
    YUBA_RETURN_IF_ERROR(inputs.Set(session));
    if (r == 0) {
      YUBA_RETURN_IF_ERROR(MakeUpValues(session, flags.random));
      if (HasInit(session))
        YUBA_RETURN_IF_ERROR(RunInit(session, flags, files, check, stop, milestones));
    }
    if (r == 0) {
      milestones.Tell(Reached::kToRun, run.times);
      milestones.Tell(Reached::kLoaded, done);
    }
    StepLoop loop(session, flags, files, check, stop, log.get(), milestones, record);
    YUBA_RETURN_IF_ERROR(loop.Run(run, inputs, done));
    const bool last = r + 1 == files.runs.size(), complete = last && loop.done() == run.times;
    if (last || stop.came()) YUBA_RETURN_IF_ERROR(loop.Save(run));
    if (stop.came() && !complete) return loop.Interrupted(run);
  }
  return absl::OkStatus();
}

}  // namespace yuba::tools
