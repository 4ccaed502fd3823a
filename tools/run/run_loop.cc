#include "tools/run/run_loop.h"

#include <algorithm>
#include <iostream>
#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "opsemantics/base/status.h"
#include "tools/report/text_table.h"
#include "tools/run/checkpoint.h"
#include "tools/run/run_files.h"

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

// Numbers that a step computed, such as a loss, by name.
using Numbers = std::vector<std::pair<std::string, double>>;

// The outputs of the entry that are one float and no state.
absl::StatusOr<Numbers> NumbersOf(runtime::Session& session, const std::string& entry) {
  Numbers numbers;
  const runtime::LoadedProgram& program = session.program();
  for (const program::Port& port : program.message().outputs()) {
    const program::Buffer& buffer = program.stage().buffers(port.buffer());
    if (port.shape_size() > 0 || buffer.initialized() || program.hash()) continue;
    if (!IsFloat(program.type(port.buffer()))) continue;
    const std::vector<bool> used = program::EntriesThatUse(program.message(), port.buffer());
    for (size_t e = 0; e < used.size(); ++e) {
      if (!used[e] || program.entries()[e].name != entry) continue;
      YUBA_ASSIGN_OR_RETURN(const TensorData value, session.Get(port.name()));
      numbers.emplace_back(port.name(), ValueAt(value, 0));
    }
  }
  return numbers;
}

void PrintStep(const std::string& step, const runtime::Statistics& before,
               const runtime::Statistics& now, const Numbers& numbers, bool timed) {
  std::cout << absl::StrFormat("%s: %.1f ms (%.1f steps/s), %s moved", step, now.seconds * 1e3,
                               1 / now.seconds, Bytes(now.bytes - before.bytes));
  if (timed) {
    std::cout << absl::StrFormat(", %.0f %% of the time copying, %.0f %% waiting for others",
                                 100 * now.copy_share, 100 * now.wait_share);
  }
  for (const auto& [name, number] : numbers)
    std::cout << absl::StrFormat(", %s %.7g", name, number);
  std::cout << "\n" << std::flush;
}

// The values of a run's steps, put in place one step after the other.
class StepInputs {
 public:
  explicit StepInputs(EntryRun& run) : run_(run) {
    if (run.batches != nullptr) reader_ = std::make_unique<BatchReader>(*run.batches, 0, run.times);
  }

  // Of the next step. In the first one the values of the run replace those of its batch; they are
  // freed then.
  absl::Status Set(runtime::Session& session) {
    if (reader_ != nullptr) {
      YUBA_ASSIGN_OR_RETURN(StepFiles batch, reader_->Next());
      YUBA_RETURN_IF_ERROR(SetInputs(session, batch));
      expected_ = std::move(batch.expected);
    }
    YUBA_RETURN_IF_ERROR(SetInputs(session, run_.first));
    run_.first.inputs.clear();
    return absl::OkStatus();
  }

  // What the outputs of the step should be.
  const Expected& expected() const { return reader_ != nullptr ? expected_ : run_.first.expected; }

 private:
  EntryRun& run_;
  std::unique_ptr<BatchReader> reader_;
  Expected expected_;
};

// Runs the steps of one entry; the values of the first are in place.
absl::Status RunSteps(runtime::Session& session, const RunFlags& flags, const EntryRun& run,
                      StepInputs& inputs, OutputCheck& check, Record* record) {
  const bool one_by_one = run.batches != nullptr;
  const auto planned = flags.planned_bytes.find(run.entry);
  for (int64_t step = 1; step <= run.times; ++step) {
    if (step > 1 && one_by_one) YUBA_RETURN_IF_ERROR(inputs.Set(session));
    const std::string name = absl::StrCat(run.entry, " ", step);
    const runtime::Statistics before = session.statistics();
    YUBA_RETURN_IF_ERROR(session.Step(run.entry));
    record->seconds.push_back(session.statistics().seconds);
    const int64_t moved = session.statistics().bytes - before.bytes;
    if (planned != flags.planned_bytes.end() && moved != planned->second) {
      return InternalError(name, " moved ", moved, " bytes, the plan promises ", planned->second);
    }
    YUBA_ASSIGN_OR_RETURN(const Numbers numbers, NumbersOf(session, run.entry));
    for (const auto& [output, number] : numbers) record->numbers[output].push_back(number);
    if (!flags.json)
      PrintStep(name, before, session.statistics(), numbers, !flags.options.interleave);
    if (one_by_one)
      YUBA_RETURN_IF_ERROR(check.Check(session, run.outputs, inputs.expected(), step));
    const bool due = flags.save_every > 0 && step % flags.save_every == 0;
    if (due && run.entry != program::kInitEntry)
      YUBA_RETURN_IF_ERROR(SaveStates(session, flags.save));
  }
  if (one_by_one) return absl::OkStatus();
  return check.Check(session, run.outputs, inputs.expected(), 0);
}

// The entry that computes what never changes, once.
absl::Status RunInit(runtime::Session& session, const RunFlags& flags, OutputCheck& check) {
  EntryRun run;
  run.entry = program::kInitEntry;
  StepInputs none(run);
  Record not_of_steps;
  return RunSteps(session, flags, run, none, check, &not_of_steps);
}

}  // namespace

absl::Status SetInputs(runtime::Session& session, const StepFiles& files) {
  for (const StepFiles::Input& input : files.inputs) {
    YUBA_RETURN_IF_ERROR(Annotate(session.Set(input.name, input.value), input.file));
  }
  return absl::OkStatus();
}

absl::Status RunAll(runtime::Session& session, const RunFlags& flags, std::vector<EntryRun>& runs,
                    OutputCheck& check, Record* record) {
  for (size_t r = 0; r < runs.size(); ++r) {
    StepInputs inputs(runs[r]);
    YUBA_RETURN_IF_ERROR(inputs.Set(session));
    if (r == 0) {
      YUBA_RETURN_IF_ERROR(MakeUpValues(session, flags.random));
      if (HasInit(session)) YUBA_RETURN_IF_ERROR(RunInit(session, flags, check));
    }
    YUBA_RETURN_IF_ERROR(RunSteps(session, flags, runs[r], inputs, check, record));
  }
  return absl::OkStatus();
}

}  // namespace yuba::tools
