#include "tools/run/predict_command.h"

#include <algorithm>
#include <iostream>
#include <string>

#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "nlohmann/json.hpp"
#include "opsemantics/base/files.h"
#include "opsemantics/base/status.h"
#include "opsemantics/machine/find_machine.h"
#include "tools/report/prediction_report.h"
#include "tools/report/text_table.h"
#include "tools/report/trace_file.h"

namespace yuba::tools {
namespace {

// The first flag that needs values, or another back end; empty where none does.
std::string FlagThatComputes(const RunFlags& flags) {
  const std::pair<const char*, bool> asked[] = {
      {"--input", !flags.inputs.empty()},       {"--inputs", !flags.input_dir.empty()},
      {"--data", !flags.data.empty()},          {"--lr-schedule", !flags.lr.empty()},
      {"--outputs", !flags.output_dir.empty()}, {"--weights", !flags.weights.empty()},
      {"--save", !flags.save.empty()},          {"--resume", !flags.resume.empty()},
      {"--expect", flags.expect.has_value()},   {"--log", !flags.log.empty()},
      {"--guard", !flags.guards.empty()},       {"--interleave", flags.interleave.has_value()},
      {"--sums", !flags.sums.empty()},          {"--no-graph", flags.no_graph},
      {"--tune", !flags.tune.empty()}};
  for (const auto& [name, set] : asked) {
    if (set) return name;
  }
  return "";
}

bool IsAsked(const RunFlags& flags, const std::string& entry) {
  if (flags.entries.empty()) return entry != program::kInitEntry;
  return std::any_of(flags.entries.begin(), flags.entries.end(), [&](const std::string& asked) {
    return std::vector<std::string>(absl::StrSplit(asked, '*'))[0] == entry;
  });
}

nlohmann::ordered_json HeadJson(const runtime::LoadedProgram& program, const Machine& machine) {
  return {{"machine", machine.name},
          {"machine_hash", machine.hash},
          {"devices", program.devices()},
          {"arena_bytes", program.message().arena_size()}};
}

}  // namespace

absl::StatusOr<Machine> MachineToPredict(const RunFlags& flags) {
  const std::string computes = FlagThatComputes(flags);
  if (!computes.empty()) {
    return UserError("--backend ", kModelBackend, " computes nothing, so ", computes,
                     " has no effect: leave it out, or run on another back end");
  }
  if (flags.machine.empty()) {
    return UserError("--backend ", kModelBackend, " needs the machine to predict for: --machine ",
                     "NAME or FILE; there are ", absl::StrJoin(MachineNames(), ", "));
  }
  return FindMachine(flags.machine);
}

absl::StatusOr<std::vector<runtime::Prediction>> PredictEntries(
    const runtime::LoadedProgram& program, const Machine& machine, const RunFlags& flags,
    const runtime::RunPolicy& policy) {
  std::vector<runtime::Prediction> predictions;
  const std::vector<program::EntryRange>& entries = program.entries();
  runtime::PredictOptions options;
  options.events = true;
  for (int e = 0; e < static_cast<int>(entries.size()); ++e) {
    if (entries.size() > 1 && !IsAsked(flags, entries[e].name)) continue;
    YUBA_ASSIGN_OR_RETURN(runtime::Prediction prediction,
                          runtime::PredictEntry(program, e, machine, policy, options));
    const auto planned = flags.planned_bytes.find(prediction.entry);
    if (planned != flags.planned_bytes.end() && prediction.bytes != planned->second) {
      return InternalError("the entry ", prediction.entry, " moves ", prediction.bytes,
                           " bytes, the plan promises ", planned->second);
    }
    predictions.push_back(std::move(prediction));
  }
  if (predictions.empty()) {
    return UserError("the program has no entry ", absl::StrJoin(flags.entries, ", "));
  }
  return predictions;
}

absl::Status PredictProgram(const runtime::LoadedProgram& program, const Machine& machine,
                            const RunFlags& flags) {
  std::vector<std::vector<runtime::Prediction>> of_policies;  // [policy][entry]
  for (runtime::RunPolicy policy : runtime::PoliciesOn(machine)) {
    policy.threads_per_device = flags.threads_per_device;
    YUBA_ASSIGN_OR_RETURN(std::vector<runtime::Prediction> predictions,
                          PredictEntries(program, machine, flags, policy));
    of_policies.push_back(std::move(predictions));
  }
  const std::vector<runtime::Prediction>& as_run = of_policies[0];
  const std::string note = KernelsNote(machine, program.message().version());
  if (flags.json) {
    nlohmann::ordered_json json = HeadJson(program, machine);
    if (!note.empty()) json["note"] = note;
    json["predicted"] = nlohmann::ordered_json::array();
    for (size_t e = 0; e < as_run.size(); ++e) {
      for (const auto& predictions : of_policies)
        json["predicted"].push_back(PredictionJson(predictions[e]));
    }
    std::cout << json.dump(1, ' ', false, nlohmann::ordered_json::error_handler_t::replace) << "\n";
  } else {
    std::cout << Counted(program.devices(), "device") << " of " << machine.name
              << ", predicted: nothing is computed; " << Bytes(program.message().arena_size())
              << " each\n";
    for (size_t e = 0; e < as_run.size(); ++e) {
      std::vector<runtime::Prediction> of_entry;
      for (const auto& predictions : of_policies) of_entry.push_back(predictions[e]);
      std::cout << PredictionText(of_entry);
      if (flags.steps > 1) {
        std::cout << flags.steps << " steps: " << as_run[e].seconds * flags.steps << " s\n";
      }
    }
    if (!note.empty()) std::cout << "note: " << note << "\n";
  }
  return flags.trace.empty() ? absl::OkStatus()
                             : WriteFile(flags.trace, FormatPredictedTrace(program, as_run));
}

}  // namespace yuba::tools
