#include "tools/run/run_command.h"

#include <algorithm>
#include <iostream>
#include <utility>

#include "absl/strings/str_format.h"
#include "nlohmann/json.hpp"
#include "opsemantics/base/files.h"
#include "opsemantics/base/random_state.h"
#include "opsemantics/base/status.h"
#include "opsemantics/machine/find_machine.h"
#include "runtime/cuda/facts.h"
#include "tools/interrupt.h"
#include "tools/report/prediction_report.h"
#include "tools/report/text_table.h"
#include "tools/report/trace_file.h"
#include "tools/run/checkpoint/checkpoint.h"
#include "tools/run/checkpoint/found_weights.h"
#include "tools/run/checkpoint/program_states.h"
#include "tools/run/checkpoint/resume.h"
#include "tools/run/learning_rate.h"
#include "tools/run/output_check.h"
#include "tools/run/predict_command.h"
#include "tools/run/ranks.h"
#include "tools/run/run_loop.h"
#include "tools/run/shared_folder.h"
#include "tools/run/tuning_file.h"

namespace yuba::tools {
namespace {

constexpr char kHostBackend[] = "host", kCudaBackend[] = "cuda";

absl::StatusOr<TensorData> ValueOf(runtime::Session& session, const std::string& parameter) {
  for (const program::Initializer& initializer : session.program().message().parameters()) {
    const program::Port& port = initializer.port();
    if (port.name() != parameter) continue;
    YUBA_ASSIGN_OR_RETURN(TensorData value, session.GetBuffer(port.buffer()));
    value.dims = TypeOf(session.program(), port).dims;
    return value;
  }
  return InternalError("the program has no parameter ", parameter);
}

absl::Status SetWeights(runtime::Session& session, const std::string& path, const RunFiles& files) {
  for (const auto& [name, value] : files.made)
    YUBA_RETURN_IF_ERROR(Annotate(session.Set(name, value), path));
  for (const auto& [name, parts] : files.joined) {
    YUBA_ASSIGN_OR_RETURN(TensorData stored, ValueOf(session, name));
    absl::StatusOr<TensorData> value = WithParts(parts, std::move(stored));
    if (!value.ok()) return Annotate(value.status(), path);
    YUBA_RETURN_IF_ERROR(Annotate(session.Set(name, *value), path));
  }
  for (const auto& [name, view] : files.weights) {
    YUBA_RETURN_IF_ERROR(SetView(session, name, view, path));
  }
  return absl::OkStatus();
}

// A checkpoint has states under their names.
absl::Status CheckNames(const runtime::LoadedProgram& program) {
  constexpr char kReserved[] = "__metadata__";
  for (const program::Initializer& parameter : program.message().parameters()) {
    if (parameter.port().name() != kReserved) continue;
    return UserError("--save: the model has a weight called ", kReserved, ", which in safetensors ",
                     "is no name of a tensor: rename it in the model's file");
  }
  return absl::OkStatus();
}

absl::Status SetSeed(runtime::Session& session, const RunFlags& flags) {
  absl::optional<uint64_t> seed = flags.seed;
  const bool drawn = PortsOf(session.program().message()).random;
  if (!seed.has_value() && drawn && flags.overrides.count("seed") > 0) seed = 0;
  if (!seed.has_value()) return absl::OkStatus();
  const std::string bytes(reinterpret_cast<const char*>(&*seed), sizeof *seed);
  return session.Set(kSeedName, {ElementType::kI64, {}, bytes});
}

// None where no product of the session could be tuned, as on processors.
absl::optional<TuningFacts> TuningOf(const RunFlags& flags, const cuda::Tuning& tuning) {
  TuningFacts facts = {flags.tune, tuning.Choices()};
  return facts.choices.empty() ? absl::nullopt : absl::make_optional(std::move(facts));
}

// Groups of messages and calls that NCCL has made in a step, as a mean over all runs of entries.
double GroupsAStep(const runtime::Statistics& statistics) {
  return static_cast<double>(statistics.groups) /
         static_cast<double>(std::max<int64_t>(1, statistics.steps));
}

nlohmann::ordered_json Json(const runtime::Session& session, const Record& record) {
  const runtime::Statistics statistics = session.statistics();
  nlohmann::ordered_json json;
  json["devices"] = session.program().devices();
  json["threads_per_device"] = statistics.threads_per_device;
  json["steps"] = statistics.steps;
  json["first_step"] = record.first_step;
  json["seconds"] = record.seconds;
  if (!record.numbers.empty()) json["numbers"] = record.numbers;
  json["bytes"] = statistics.bytes;
  json["bytes_in"] = statistics.bytes_in;
  json["bytes_out"] = statistics.bytes_out;
  json["arena_bytes"] = statistics.arena_bytes;
  json["workspace_bytes"] = statistics.workspace_bytes;
  json["library_calls"] = statistics.library_calls;
  if (statistics.groups > 0) json["groups_a_step"] = GroupsAStep(statistics);
  if (!statistics.sums.empty()) json["sums"] = statistics.sums;
  json["exchanges"] = nlohmann::ordered_json::array();
  for (const auto& [place, bytes] : statistics.bytes_by_instruction) {
    const program::Exchange& exchange = session.program().instructions()[place].exchange();
    json["exchanges"].push_back({{"tensor", exchange.tensor()},
                                 {"node", exchange.node()},
                                 {"kind", exchange.reduce() ? "reduce" : "gather"},
                                 {"bytes", bytes}});
  }
  return json;
}

// A line where a process has more devices than there are GPUs: it does not use more than one.
void NoteVirtualDevices(const runtime::LoadedProgram& program, const RunFlags& flags) {
  if (flags.backend != kCudaBackend) return;
  const absl::StatusOr<std::vector<cuda::GpuFacts>> gpus = cuda::FindGpus();
  const int devices = program.devices();
  if (!gpus.ok() || devices <= static_cast<int>(gpus->size())) return;
  std::cerr << "note: " << devices << " devices and " << Counted(gpus->size(), "GPU")
            << ": all devices are virtual, on " << (gpus->size() == 1 ? "it" : "the first") << "\n";
}

// What was timed is kept, also where the session is not opened.
absl::StatusOr<std::unique_ptr<runtime::Session>> OpenSession(
    const std::shared_ptr<runtime::LoadedProgram>& program, const RunFlags& flags, RunFiles& files,
    runtime::Job* job) {
  runtime::RunOptions options = RunOptionsOf(flags);
  options.job = job;
  options.trace = !flags.trace.empty();
  options.cuda.tuning = files.tuning;
  absl::StatusOr<std::unique_ptr<runtime::Session>> session =
      runtime::Session::Open(program, options);
  if (files.tuning == nullptr) return session;
  files.facts.tuning = TuningOf(flags, *files.tuning);
  const absl::Status kept = flags.writes ? SaveTuning(flags.tune, *files.tuning) : absl::OkStatus();
  if (session.ok() && !kept.ok()) return Annotate(kept, "--tune");
  return session;
}

// Everything that the steps begin with.
absl::Status SetValues(runtime::Session& session, const RunFlags& flags, RunFiles& files) {
  YUBA_RETURN_IF_ERROR(SetWeights(session, flags.weights, files));
  if (files.checkpoint.has_value()) {
    if (flags.backend != kHostBackend)
      YUBA_RETURN_IF_ERROR(CheckTuning(flags, files.facts, *files.checkpoint));
    YUBA_RETURN_IF_ERROR(Resume(session, *files.checkpoint, flags.overrides));
  }
  YUBA_RETURN_IF_ERROR(KeepRate(session, flags, files));
  return SetSeed(session, flags);
}

void PrintBegin(const runtime::Session& session, const RunFlags& flags, const RunFiles& files) {
  const runtime::Statistics statistics = session.statistics();
  std::cout << Counted(session.program().devices(), "device") << " (" << flags.backend << "), ";
  if (session.job() != nullptr)
    std::cout << "each a process through " << session.job()->transport().Name() << ", ";
  if (statistics.threads_per_device > 1 && flags.backend == kHostBackend) {
    std::cout << statistics.threads_per_device << " threads each, ";
  }
  std::cout << Bytes(statistics.arena_bytes) << " each, " << Bytes(statistics.workspace_bytes)
            << " more for libraries\n";
  if (!statistics.sums.empty())
    std::cout << "sums of several devices are " << statistics.sums << "\n";
  const auto describe = [](const EntryRun& run) {
    if (run.batches == nullptr) return;
    std::cout << run.entry << ": " << run.batches->Describe() << "\n";
  };
  if (files.facts.tuning.has_value()) {
    std::cout << flags.tune << ": "
              << Counted(static_cast<int64_t>(files.tuning->used().size()), "product")
              << " by it, of which " << files.tuning->added().size() << " timed now\n";
  }
  for (const EntryRun& run : files.runs) describe(run);
  if (files.eval.has_value()) describe(*files.eval);
}

// What the run is predicted to take on --machine.
absl::StatusOr<std::vector<runtime::Prediction>> PredictionsOf(
    const runtime::LoadedProgram& program, const RunFlags& flags) {
  YUBA_ASSIGN_OR_RETURN(const Machine machine, FindMachine(flags.machine));
  runtime::RunPolicy policy = runtime::PolicyOn(machine);
  policy.threads_per_device = flags.threads_per_device;
  YUBA_ASSIGN_OR_RETURN(std::vector<runtime::Prediction> predictions,
                        PredictEntries(program, machine, flags, policy));
  const std::string note = KernelsNote(machine, program.message().version());
  if (!note.empty()) std::cerr << "note: " << note << "\n";
  return predictions;
}

// The last step, by kinds where the host sees them.
MeasuredRun MeasuredOf(const runtime::Session& session, const RunFlags& flags) {
  const runtime::Statistics statistics = session.statistics();
  MeasuredRun measured;
  measured.seconds = statistics.seconds;
  measured.by_kind = flags.SeesKinds();
  std::copy(std::begin(statistics.kernel_seconds), std::end(statistics.kernel_seconds),
            std::begin(measured.kinds.kernels));
  measured.kinds.exchanges = statistics.copy_seconds;
  measured.kinds.waiting = statistics.wait_seconds;
  return measured;
}

// Of the entry that ran last.
void PrintPredicted(const runtime::Session& session, const RunFlags& flags, const Record& record,
                    const std::vector<runtime::Prediction>& predictions) {
  if (predictions.empty() || record.seconds.empty()) return;
  const MeasuredRun measured = MeasuredOf(session, flags);
  std::cout << "the last step on " << flags.machine << "\n"
            << BesideText(predictions.back(), measured);
  if (!measured.by_kind) std::cout << "--trace measures each kind\n";
}

void AddPredicted(const runtime::Session& session, const RunFlags& flags,
                  const std::vector<runtime::Prediction>& predictions,
                  nlohmann::ordered_json& json) {
  if (predictions.empty()) return;
  json["predicted"] = nlohmann::ordered_json::array();
  for (const runtime::Prediction& each : predictions)
    json["predicted"].push_back(PredictionJson(each));
  const MeasuredRun measured = MeasuredOf(session, flags);
  if (measured.by_kind) json["last_step_kinds"] = KindsJson(measured.kinds);
}

}  // namespace

absl::Status RunProgram(const std::shared_ptr<runtime::LoadedProgram>& program,
                        const RunFlags& flags, RunFiles files, runtime::Job* job) {
  if (job != nullptr && flags.interleave.has_value()) {
    return UserError("--interleave: one thread runs all devices, which is one process: start it ",
                     "without ", job->Self().launcher);
  }
  if (!flags.save.empty() && !HasStates(*program)) {
    return UserError(
        "--save: no step of the program changes what it keeps, so there is nothing to ", "save");
  }
  if (!flags.save.empty()) YUBA_RETURN_IF_ERROR(CheckNames(*program));
  if (job != nullptr) YUBA_RETURN_IF_ERROR(CheckFolderIsShared(flags.save, *job));
  if (job != nullptr) YUBA_RETURN_IF_ERROR(job->MustAgree(PrintOf(files), "checkpoint or input"));
  std::vector<runtime::Prediction> predictions;
  if (!flags.machine.empty()) {
    YUBA_ASSIGN_OR_RETURN(predictions, PredictionsOf(*program, flags));
  }
  if (job == nullptr) NoteVirtualDevices(*program, flags);
  YUBA_ASSIGN_OR_RETURN(const std::unique_ptr<runtime::Session> session,
                        OpenSession(program, flags, files, job));
  YUBA_RETURN_IF_ERROR(SetValues(*session, flags, files));
  files.weights.clear();  // the devices have them now
  program->DropValues();
  if (!flags.json) PrintBegin(*session, flags, files);
  const InterruptNote note(flags.writes ? "stopping after this step; once more ends at once\n"
                                        : "");
  Record record;
  OutputCheck check(flags);
  if (job != nullptr) job->SetBusy(false);
  YUBA_RETURN_IF_ERROR(RunAll(*session, flags, files, check, &record));
  if (job != nullptr) job->SetBusy(flags.writes);
  if (!flags.json) PrintPredicted(*session, flags, record, predictions);
  if (!flags.json && session->statistics().groups > 0) {
    std::cout << absl::StrFormat("%.4g", GroupsAStep(session->statistics()))
              << " groups of NCCL a step\n";
  }
  if (flags.json) {
    nlohmann::ordered_json json = Json(*session, record);
    AddPredicted(*session, flags, predictions, json);
    if (files.facts.tuning.has_value()) {
      json["tuning"] = {{"file", flags.tune},
                        {"products", files.tuning->used().size()},
                        {"timed", files.tuning->added().size()}};
    }
    if (flags.expect.has_value()) json["check"] = check.verdict();
    // Names come from the user's model and need not be UTF-8.
    std::cout << json.dump(1, ' ', false, nlohmann::ordered_json::error_handler_t::replace) << "\n";
  }
  if (!flags.trace.empty()) YUBA_RETURN_IF_ERROR(session->GatherTraces());
  if (!flags.trace.empty() && flags.writes) {
    const PredictedTimes times(predictions);
    YUBA_RETURN_IF_ERROR(WriteFile(flags.trace, FormatTrace(*session, &times)));
  }
  YUBA_RETURN_IF_ERROR(WriteOutputs(*session, flags, files.runs));
  return session->IsFirstRank() ? AsOutcome(check.Result()) : absl::OkStatus();
}

}  // namespace yuba::tools
