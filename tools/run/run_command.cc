#include "tools/run/run_command.h"

#include <algorithm>
#include <climits>
#include <cmath>
#include <cstring>
#include <iostream>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "nlohmann/json.hpp"
#include "opsemantics/base/files.h"
#include "opsemantics/base/half.h"
#include "opsemantics/base/status.h"
#include "runtime/backend.h"
#include "tools/command_line.h"
#include "tools/report/text_table.h"
#include "tools/report/trace_file.h"

namespace yuba::tools {
namespace {

absl::Status SetInputs(runtime::Session& session, const RunFiles& files) {
  for (const RunFiles::Input& input : files.inputs) {
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

double ValueAt(const TensorData& tensor, int64_t index) {
  const char* bytes = &tensor.data[index * ByteSize(tensor.type)];
  uint64_t bits = 0;
  std::memcpy(&bits, bytes, ByteSize(tensor.type));
  double wide;
  switch (tensor.type) {
    case ElementType::kF64: std::memcpy(&wide, &bits, sizeof wide); return wide;
    case ElementType::kF32: return FloatOf(static_cast<uint32_t>(bits));
    case ElementType::kF16: return FromF16(static_cast<uint16_t>(bits));
    case ElementType::kBF16: return FromBF16(static_cast<uint16_t>(bits));
    case ElementType::kI64: return static_cast<double>(static_cast<int64_t>(bits));
    case ElementType::kI32: return static_cast<int32_t>(bits);
    case ElementType::kI8: return static_cast<int8_t>(bits);
    case ElementType::kU8: return static_cast<double>(bits);
    case ElementType::kBool: return bits != 0;
  }
  return 0;
}

std::string Text(const Comparison& comparison) {
  if (!comparison.comparable) return "has another shape or element type than the expected output";
  std::string text = absl::StrFormat("largest difference %.3g where values reach %.3g",
                                     comparison.difference, comparison.largest);
  if (comparison.strange > 0)
    absl::StrAppend(&text, ", ", comparison.strange, " elements are not finite");
  return text;
}

// Fills `verdict` with what --json prints of the check.
absl::Status CheckOutputs(runtime::Session& session, const RunFlags& flags, const RunFiles& files,
                          nlohmann::ordered_json& verdict) {
  if (!flags.check) return absl::OkStatus();
  verdict = {
      {"ok", false}, {"tolerance", flags.tolerance}, {"outputs", nlohmann::ordered_json::array()}};
  bool all_within = true;
  const auto& outputs = session.program().message().outputs();
  for (int i = 0; i < outputs.size(); ++i) {
    if (!files.expected[i].has_value()) continue;
    YUBA_ASSIGN_OR_RETURN(const TensorData actual, session.Get(outputs[i].name()));
    const Comparison comparison = Compare(*files.expected[i], actual, flags.tolerance);
    (flags.json ? std::cerr : std::cout) << (comparison.ok() ? "ok   " : "WRONG ")
                                         << outputs[i].name() << ": " << Text(comparison) << "\n";
    verdict["outputs"].push_back({{"name", outputs[i].name()},
                                  {"ok", comparison.ok()},
                                  {"comparable", comparison.comparable},
                                  {"largest_difference", comparison.difference},
                                  {"largest_expected", comparison.largest},
                                  {"allowed", comparison.allowed},
                                  {"not_finite", comparison.strange}});
    all_within &= comparison.ok();
  }
  verdict["ok"] = all_within;
  if (!all_within) return absl::FailedPreconditionError("an output differs from what was expected");
  return absl::OkStatus();
}

void PrintStep(int step, const runtime::Statistics& before, const runtime::Statistics& now,
               bool timed) {
  std::cout << absl::StrFormat("step %d: %.1f ms (%.1f steps/s), %s moved", step, now.seconds * 1e3,
                               1 / now.seconds, Bytes(now.bytes - before.bytes));
  if (timed) {
    std::cout << absl::StrFormat(", %.0f %% of the time copying, %.0f %% waiting for others",
                                 100 * now.copy_share, 100 * now.wait_share);
  }
  std::cout << "\n" << std::flush;
}

// Fills `seconds`, by step.
absl::Status RunSteps(runtime::Session& session, const RunFlags& flags,
                      std::vector<double>* seconds) {
  for (int step = 1; step <= flags.steps; ++step) {
    const runtime::Statistics before = session.statistics();
    YUBA_RETURN_IF_ERROR(session.Step());
    seconds->push_back(session.statistics().seconds);
    const int64_t moved = session.statistics().bytes - before.bytes;
    if (flags.planned_bytes.has_value() && moved != *flags.planned_bytes) {
      return InternalError("step ", step, " moved ", moved, " bytes, the plan promises ",
                           *flags.planned_bytes);
    }
    if (!flags.json) PrintStep(step, before, session.statistics(), !flags.options.interleave);
  }
  return absl::OkStatus();
}

nlohmann::ordered_json Json(const runtime::Session& session, const std::vector<double>& seconds) {
  const runtime::Statistics statistics = session.statistics();
  nlohmann::ordered_json json;
  json["devices"] = session.program().devices();
  json["steps"] = statistics.steps;
  json["seconds"] = seconds;
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
  app->add_option("--inputs", flags.input_dir, "a folder with input_0.pb or input_0.npy, ...")
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
         "compare with output_0 of the --inputs folder: the largest difference allowed, as a share "
         "of the largest expected value")
      ->check(NumberFrom0());
  app->add_flag("--random", flags.random,
                "make up values that no file gives; --random=SEED for others");
  app->add_option("--steps", flags.steps, "steps to run")
      ->check(WholeNumber(1, INT_MAX))
      ->capture_default_str();
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
  app->add_flag("!--plain-exchanges", flags.options.recognise,
                "run recognised collectives as plain exchanges");
  app->add_flag("--check-memory", flags.check_memory,
                "fill memory with NaN before use and look for writes outside buffers");
  app->add_option("--trace", flags.trace, "write what each device did when, for chrome://tracing");
  app->add_flag("--json", flags.json, "print figures as JSON");
}

Comparison Compare(const TensorData& expected, const TensorData& actual, double tolerance) {
  Comparison result;
  result.comparable = expected.type == actual.type && expected.dims == actual.dims &&
                      expected.data.size() == actual.data.size();
  if (!result.comparable) return result;
  const int64_t elements = static_cast<int64_t>(expected.data.size()) / ByteSize(expected.type);
  for (int64_t i = 0; i < elements; ++i) {
    const double wanted = ValueAt(expected, i), got = ValueAt(actual, i);
    if (!std::isfinite(wanted) || !std::isfinite(got)) {
      if (!(wanted == got || (std::isnan(wanted) && std::isnan(got)))) ++result.strange;
      continue;
    }
    result.difference = std::max(result.difference, std::fabs(wanted - got));
    result.largest = std::max(result.largest, std::fabs(wanted));
  }
  result.allowed = IsFloat(expected.type) ? tolerance * result.largest : 0;
  return result;
}

absl::Status RunProgram(const std::shared_ptr<runtime::LoadedProgram>& program,
                        const RunFlags& flags, RunFiles files) {
  runtime::RunOptions options = flags.options;
  options.poison = options.guards = flags.check_memory;
  options.trace = !flags.trace.empty();
  YUBA_ASSIGN_OR_RETURN(std::unique_ptr<runtime::Session> session,
                        runtime::Session::Open(program, options));
  YUBA_RETURN_IF_ERROR(SetWeights(*session, flags.weights, files.weights));
  YUBA_RETURN_IF_ERROR(SetInputs(*session, files));
  YUBA_RETURN_IF_ERROR(MakeUpValues(*session, flags.random));
  files.weights.clear();  // the devices have them now
  files.inputs.clear();
  program->DropValues();
  if (!flags.json) {
    const runtime::Statistics statistics = session->statistics();
    std::cout << Counted(program->devices(), "device") << " (" << flags.options.backend << "), "
              << Bytes(statistics.arena_bytes) << " each, " << Bytes(statistics.workspace_bytes)
              << " more for libraries\n";
  }
  std::vector<double> seconds;
  YUBA_RETURN_IF_ERROR(RunSteps(*session, flags, &seconds));
  nlohmann::ordered_json verdict;
  const absl::Status checked = CheckOutputs(*session, flags, files, verdict);
  if (flags.json) {
    nlohmann::ordered_json json = Json(*session, seconds);
    if (flags.check) json["check"] = std::move(verdict);
    // Names come from the user's model and need not be UTF-8.
    std::cout << json.dump(1, ' ', false, nlohmann::ordered_json::error_handler_t::replace) << "\n";
  }
  if (options.trace) YUBA_RETURN_IF_ERROR(WriteFile(flags.trace, FormatTrace(*session)));
  YUBA_RETURN_IF_ERROR(WriteOutputs(*session, flags));
  return checked;
}

}  // namespace yuba::tools
