#include "tools/run/run_command.h"

#include <algorithm>
#include <climits>
#include <iostream>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "nlohmann/json.hpp"
#include "opsemantics/base/files.h"
#include "opsemantics/base/random_state.h"
#include "opsemantics/base/status.h"
#include "runtime/backend.h"
#include "tools/command_line.h"
#include "tools/report/text_table.h"
#include "tools/report/trace_file.h"
#include "tools/run/checkpoint.h"
#include "tools/run/output_check.h"

namespace yuba::tools {
namespace {

absl::Status SetInputs(runtime::Session& session, const StepFiles& files) {
  for (const StepFiles::Input& input : files.inputs) {
    YUBA_RETURN_IF_ERROR(Annotate(session.Set(input.name, input.value), input.file));
  }
  return absl::OkStatus();
}

absl::Status SetWeights(runtime::Session& session, const std::string& path,
                        const std::map<std::string, StoredTensor>& tensors) {
  if (path.empty()) return absl::OkStatus();
  int used = 0;
  for (const program::Initializer& parameter : session.program().message().parameters()) {
    const auto found = tensors.find(parameter.port().name());
    if (found == tensors.end()) continue;
    YUBA_RETURN_IF_ERROR(Annotate(session.SetFromFile(found->first, found->second), path));
    ++used;
  }
  if (used == 0) {
    return UserError(path, ": none of its ", Counted(tensors.size(), "tensor"),
                     " has the name of a parameter of the program");
  }
  if (used < static_cast<int>(tensors.size())) {
    std::cerr << "note: " << path << ": " << Counted(tensors.size() - used, "tensor")
              << " in it that the program has no parameters for\n";
  }
  return absl::OkStatus();
}

absl::Status MakeUpValues(runtime::Session& session, const std::string& random) {
  if (random.empty()) return absl::OkStatus();
  YUBA_ASSIGN_OR_RETURN(const uint64_t seed, RandomSeed(random));
  return session.Randomize(seed);
}

absl::Status SetSeed(runtime::Session& session, const absl::optional<uint64_t>& seed) {
  if (!seed.has_value()) return absl::OkStatus();
  const std::string bytes(reinterpret_cast<const char*>(&*seed), sizeof *seed);
  return session.Set(kSeedName, {ElementType::kI64, {}, bytes});
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

// What --json says of the steps, by step.
struct Record {
  std::vector<double> seconds;
  std::map<std::string, std::vector<double>> numbers;  // by output; of the steps that compute it
};

// Runs the steps of one entry, whose inputs are set where one StepFiles serves all steps.
absl::Status RunSteps(runtime::Session& session, const RunFlags& flags, const EntryRun& run,
                      OutputCheck& check, Record* record) {
  const bool one_by_one = run.steps.size() > 1;
  const auto planned = flags.planned_bytes.find(run.entry);
  for (int step = 1; step <= run.times; ++step) {
    if (one_by_one) YUBA_RETURN_IF_ERROR(SetInputs(session, run.steps[step - 1]));
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
    if (one_by_one) YUBA_RETURN_IF_ERROR(check.Check(session, run, step - 1, step));
    const bool due = flags.save_every > 0 && step % flags.save_every == 0;
    if (due && run.entry != program::kInitEntry)
      YUBA_RETURN_IF_ERROR(SaveStates(session, flags.save));
  }
  return one_by_one ? absl::OkStatus() : check.Check(session, run, 0, 0);
}

// The entry that computes what never changes, once.
EntryRun InitRun() {
  EntryRun run;
  run.entry = program::kInitEntry;
  run.steps.resize(1);
  return run;
}

// All runs, one after the other; the inputs of the first are set.
absl::Status RunAll(runtime::Session& session, const RunFlags& flags,
                    const std::vector<EntryRun>& runs, OutputCheck& check, Record* record) {
  for (const program::EntryRange& entry : session.program().entries()) {
    if (entry.name != program::kInitEntry) continue;
    Record not_of_steps;
    YUBA_RETURN_IF_ERROR(RunSteps(session, flags, InitRun(), check, &not_of_steps));
  }
  for (size_t r = 0; r < runs.size(); ++r) {
    if (r > 0) YUBA_RETURN_IF_ERROR(SetInputs(session, runs[r].steps[0]));
    YUBA_RETURN_IF_ERROR(RunSteps(session, flags, runs[r], check, record));
  }
  return absl::OkStatus();
}

nlohmann::ordered_json Json(const runtime::Session& session, const Record& record) {
  const runtime::Statistics statistics = session.statistics();
  nlohmann::ordered_json json;
  json["devices"] = session.program().devices();
  json["threads_per_device"] = statistics.threads_per_device;
  json["steps"] = statistics.steps;
  json["seconds"] = record.seconds;
  if (!record.numbers.empty()) json["numbers"] = record.numbers;
  json["bytes"] = statistics.bytes;
  json["bytes_in"] = statistics.bytes_in;
  json["bytes_out"] = statistics.bytes_out;
  json["arena_bytes"] = statistics.arena_bytes;
  json["workspace_bytes"] = statistics.workspace_bytes;
  json["library_calls"] = statistics.library_calls;
  json["exchanges"] = nlohmann::ordered_json::array();
  for (const auto& [place, bytes] : statistics.bytes_by_instruction) {
    const program::Exchange& exchange = *session.program().instructions()[place].exchange;
    json["exchanges"].push_back({{"tensor", exchange.tensor()},
                                 {"node", exchange.node()},
                                 {"kind", exchange.reduce() ? "reduce" : "gather"},
                                 {"bytes", bytes}});
  }
  return json;
}

}  // namespace

void AddRunFlags(CLI::App* app, RunFlags& flags) {
  app->add_option("--backend", flags.options.backend, "one of " + runtime::BackendNames())
      ->capture_default_str();
  app->add_option("--input", flags.inputs, "an input or parameter: NAME=FILE (.npy or .pb)")
      ->take_all();
  app->add_option("--inputs", flags.input_dir,
                  "a folder with input_0.pb or input_0.npy, ...; for a run of several steps with "
                  "inputs of their own one with test_data_set_0, test_data_set_1, ...")
      ->check(CLI::ExistingDirectory);
  app->add_option("--outputs", flags.output_dir, "write output_0.npy, ... into this folder");
  app->add_option("--weights", flags.weights, "parameters by name, a safetensors file")
      ->check(CLI::ExistingFile);
  app->add_option_function<double>(
         "--check",
         [&flags](double tolerance) {
           flags.check = true;
           flags.tolerance = tolerance;
         },
         "compare with output_0, ... of the --inputs folder, step by step where it has a folder "
         "for "
         "each: the largest difference allowed, as a share of the largest expected value")
      ->check(NumberFrom0());
  app->add_flag("--random", flags.random,
                "make up values that no file gives; --random=SEED for others");
  app->add_option_function<uint64_t>(
         "--seed", [&flags](uint64_t seed) { flags.seed = seed; },
         "of the random numbers that the model draws, as for dropout; default: 0")
      ->check(WholeNumber(0, UINT32_MAX));
  app->add_option("--steps", flags.steps,
                  "steps to run; default: one, or one for each test_data_set_N of --inputs")
      ->check(WholeNumber(1, INT_MAX));
  app->add_option("--entry", flags.entries,
                  "an entry to run, and how often: NAME or NAME=TIMES; several run one after the "
                  "other; default: each entry of the program")
      ->take_all();
  app->add_option("--timeout", flags.options.timeout_seconds,
                  "seconds that a device may wait for another")
      ->check(NumberAbove0())
      ->capture_default_str();
  app->add_option_function<uint64_t>(
         "--seed-executor",
         [&flags](uint64_t seed) {
           flags.options.interleave = true;
           flags.options.interleave_seed = seed;
         },
         "one thread that interleaves the devices by this seed; default: a thread for each")
      ->check(Seed());
  app->add_option("--threads-per-device", flags.options.threads_per_device,
                  "threads of each device of the host; default: the machine's, shared out")
      ->check(WholeNumber(1, runtime::kMostThreadsPerDevice));
  app->add_flag("!--plain-exchanges", flags.options.recognise,
                "run recognised collectives as plain exchanges");
  app->add_flag("--check-memory", flags.check_memory,
                "fill memory with NaN before use and look for writes outside buffers");
  CLI::Option* save =
      app->add_option("--save", flags.save,
                      "write all states, trained weights among them, into this file of safetensors "
                      "after the last step; --weights begins with them");
  app->add_option("--every", flags.save_every, "of --save: also after so many steps each")
      ->needs(save)
      ->check(WholeNumber(1, INT_MAX));
  app->add_option("--trace", flags.trace, "write what each device did when, for chrome://tracing");
  app->add_flag("--json", flags.json, "print figures as JSON");
}

absl::Status RunProgram(const std::shared_ptr<runtime::LoadedProgram>& program,
                        const RunFlags& flags, RunFiles files) {
  if (!flags.save.empty() && !HasStates(*program)) {
    return UserError(
        "--save: no step of the program changes what it keeps, so there is nothing to ", "save");
  }
  runtime::RunOptions options = flags.options;
  options.poison = options.guards = flags.check_memory;
  options.trace = !flags.trace.empty();
  YUBA_ASSIGN_OR_RETURN(std::unique_ptr<runtime::Session> session,
                        runtime::Session::Open(program, options));
  YUBA_RETURN_IF_ERROR(SetWeights(*session, flags.weights, files.weights));
  YUBA_RETURN_IF_ERROR(SetSeed(*session, flags.seed));
  YUBA_RETURN_IF_ERROR(SetInputs(*session, files.runs[0].steps[0]));
  YUBA_RETURN_IF_ERROR(MakeUpValues(*session, flags.random));
  files.weights.clear();  // the devices have them now
  files.runs[0].steps[0].inputs.clear();
  program->DropValues();
  if (!flags.json) {
    const runtime::Statistics statistics = session->statistics();
    std::cout << Counted(program->devices(), "device") << " (" << flags.options.backend << "), ";
    if (statistics.threads_per_device > 1 && flags.options.backend == "host") {
      std::cout << statistics.threads_per_device << " threads each, ";
    }
    std::cout << Bytes(statistics.arena_bytes) << " each, " << Bytes(statistics.workspace_bytes)
              << " more for libraries\n";
  }
  Record record;
  OutputCheck check(flags);
  YUBA_RETURN_IF_ERROR(RunAll(*session, flags, files.runs, check, &record));
  if (!flags.save.empty()) YUBA_RETURN_IF_ERROR(SaveStates(*session, flags.save));
  if (flags.json) {
    nlohmann::ordered_json json = Json(*session, record);
    if (flags.check) json["check"] = check.verdict();
    // Names come from the user's model and need not be UTF-8.
    std::cout << json.dump(1, ' ', false, nlohmann::ordered_json::error_handler_t::replace) << "\n";
  }
  if (options.trace) YUBA_RETURN_IF_ERROR(WriteFile(flags.trace, FormatTrace(*session)));
  YUBA_RETURN_IF_ERROR(WriteOutputs(*session, flags, files.runs));
  return check.Result();
}

}  // namespace yuba::tools
