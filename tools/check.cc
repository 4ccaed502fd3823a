// yuba check: is the plan legal for this model, and are its cost, its bound and every other field
// of the file true?
#include "search/check/check.h"

#include <iostream>

#include "absl/strings/str_cat.h"
#include "compiler/search_model.h"
#include "nlohmann/json.hpp"
#include "opsemantics/base/status.h"
#include "search/space/pin.h"
#include "search/space/pin_text.h"
#include "search/space/restriction.h"
#include "tools/command.h"
#include "tools/program/plan_notes.h"
#include "tools/report/json_report.h"
#include "tools/report/plan_report.h"
#include "tools/report/text_table.h"
#include "tools/subcommands.h"

namespace yuba::tools {
namespace {

using Json = nlohmann::ordered_json;

struct CheckFlags {
  ModelFlags model;
  std::string plan;
  bool json = false;
};

// The path of the first field of `file` that differs from `derived`, with both values; "" if none
// does.
std::string FirstDifference(const Json& file, const Json& derived, const std::string& path) {
  if (file == derived) return "";
  const auto text = [](const Json& json) {
    return json.dump(-1, ' ', false, Json::error_handler_t::replace);
  };
  if (file.is_object() && derived.is_object()) {
    const std::string dot = path.empty() ? "" : ".";
    for (const auto& [name, value] : derived.items()) {
      const auto found = file.find(name);
      if (found == file.end()) return absl::StrCat(path, dot, name, " is missing in the file");
      std::string difference = FirstDifference(*found, value, absl::StrCat(path, dot, name));
      if (!difference.empty()) return difference;
    }
    for (const auto& [name, value] : file.items()) {
      if (!derived.contains(name))
        return absl::StrCat(path, dot, name, " is a field that plans do not have");
    }
    return "";  // the same fields in another order
  }
  if (file.is_array() && derived.is_array() && file.size() == derived.size()) {
    for (size_t i = 0; i < file.size(); ++i) {
      std::string difference =
          FirstDifference(file[i], derived[i], absl::StrCat(path, "[", i, "]"));
      if (!difference.empty()) return difference;
    }
    return "";
  }
  return absl::StrCat(path, " is ", text(file).substr(0, 200), " in the file, ",
                      text(derived).substr(0, 200), " by the model and the plan's shardings");
}

// The name of the plan's machine; "" where it has none.
std::string MachineNameOf(const search::Plan& plan) {
  const auto& machine = plan.space.objective.machine();
  return machine == nullptr ? "" : machine->name;
}

// Whether the file is what `partition` writes for these shardings and partitions. The name of the
// model's file is for people and taken as it is, because the graph's hash says which model it is.
// Options are taken too, except those that the plan itself says.
absl::Status CheckFields(const PlannedModel& planned, const CheckFlags& flags) {
  search::PlanNotes notes = NotesFor(planned.loaded, flags.model);
  notes.graph_file = planned.file.notes.graph_file;
  notes.options = planned.file.notes.options;
  notes.machine_found = planned.file.notes.machine_found;
  // The default search may have taken the plan of another one.
  const auto asked = notes.options.find("search");
  const bool by_default = asked != notes.options.end() && asked->second == "default";
  const std::pair<const char*, std::string> of_plan[] = {
      {"devices", absl::StrCat(planned.plan.mesh.devices())},
      {"search", by_default ? "default" : planned.plan.search},
      {"copies", planned.plan.space.copies ? "all" : "none"},
      {"replicate", search::WordOf(planned.plan.space.replicate)},
      {"memory", absl::StrCat(planned.plan.space.memory)},
      {"machine", MachineNameOf(planned.plan)},
      {"objective", search::WordOf(planned.plan.space.objective.kind())}};
  for (const auto& [name, value] : of_plan) {
    if (const auto it = notes.options.find(name); it != notes.options.end()) it->second = value;
  }
  YUBA_RETURN_IF_ERROR(AddProgramNotes(planned.loaded.model, planned.plan, true, notes));
  const Json derived =
      Json::parse(search::WritePlan(planned.loaded.model.graph, planned.plan, notes));
  Json file = Json::parse(planned.text, nullptr, false);
  if (planned.file.proof_forgotten) {  // what was proved then is not the file's to say now
    for (const char* field : {"proof", "replayed"}) file[field] = derived[field];
    for (const char* field : {"lower_bound", "gap", "asked_lower_bound", "asked_gap"}) {
      file["cost"][field] = derived["cost"][field];
    }
  }
  const std::string difference = FirstDifference(file, derived, "");
  if (difference.empty()) return absl::OkStatus();
  return absl::FailedPreconditionError(absl::StrCat(flags.plan, ": ", difference, ": plan again"));
}

// Checks that the pins of the plan's space, which its bound and shardings were checked against, are
// what the texts of the pins demand.
absl::Status CheckPins(const PlannedModel& planned, const CheckFlags& flags) {
  const Graph& graph = planned.loaded.model.graph;
  const search::Space& space = planned.plan.space;
  std::vector<search::Pin> pins;
  for (size_t i = 0; i < space.pin_texts.size(); ++i) {
    const absl::StatusOr<std::vector<search::Pin>> more =
        search::ParsePin(graph, planned.plan.mesh, space.pin_texts[i]);
    if (!more.ok()) {
      return absl::FailedPreconditionError(
          absl::StrCat(flags.plan, ": options.pin.", i, " is ", space.pin_texts[i],
                       ", which is no pin of this model: ", more.status().message()));
    }
    pins.insert(pins.end(), more->begin(), more->end());
  }
  const absl::StatusOr<search::Restrictions> demanded = search::RestrictionsOf(
      graph, planned.plan.mesh, pins, space.replicate == search::Replicate::kAuto);
  if (!demanded.ok()) {
    return absl::FailedPreconditionError(
        absl::StrCat(flags.plan, ": ", demanded.status().message(), ": plan again"));
  }
  if (search::PinnedBy(*demanded) == space.pins) return absl::OkStatus();
  return absl::FailedPreconditionError(absl::StrCat(
      flags.plan, ": space.pins are not what the texts of the pins in options demand: plan again"));
}

// Checks that the program of the plan keeps to the memory limit of the plan's space.
absl::Status CheckMemoryLimit(const PlannedModel& planned, const CheckFlags& flags) {
  const int64_t limit = planned.plan.space.memory;
  if (limit == 0) return absl::OkStatus();
  const int64_t arena = compiler::ArenaBytes(planned.loaded.model.graph, planned.plan);
  if (arena <= limit) return absl::OkStatus();
  return absl::FailedPreconditionError(absl::StrCat(flags.plan, ": the plan needs ", arena,
                                                    " bytes a device, its limit is ", limit,
                                                    ": plan again"));
}

absl::Status Check(const CheckFlags& flags, Json& report) {
  report["plan"] = flags.plan;
  YUBA_ASSIGN_OR_RETURN(PlannedModel planned, LoadPlanned(flags.model, flags.plan));
  const int64_t bytes = planned.plan.cost.bytes();
  report["devices"] = planned.plan.mesh.devices();
  report["bytes"] = bytes;
  const search::Objective& objective = planned.plan.space.objective;
  if (objective.machine() != nullptr) {
    report["objective"] = search::WordOf(objective.kind());
    report["machine"] = objective.machine()->name;
    report["nanoseconds"] = planned.plan.time.all();
  }
  report["lower_bound"] = planned.plan.lower_bound;
  report["proof"] = search::WordOf(planned.plan.proof.kind);
  if (absl::Status legal = search::CheckPlan(planned.loaded.model.graph, planned.plan);
      !legal.ok()) {
    return absl::Status(legal.code(),
                        absl::StrCat(flags.plan, ": ", legal.message(), ": plan again"));
  }
  YUBA_RETURN_IF_ERROR(CheckMemoryLimit(planned, flags));
  YUBA_RETURN_IF_ERROR(CheckFields(planned, flags));
  YUBA_RETURN_IF_ERROR(CheckPins(planned, flags));
  if (flags.json) return absl::OkStatus();
  std::cout << flags.plan << ": legal; moves " << Bytes(bytes) << " (" << bytes << " bytes) "
            << SpanText(!planned.file.entries.empty());
  if (objective.machine() != nullptr) {
    std::cout << ", " << Duration(planned.plan.time.all()) << " on " << objective.machine()->name;
  }
  std::cout << ", as it says; ";
  if (planned.plan.proof.kind == search::ProofKind::kNone) {
    std::cout << (bytes == 0 ? "no plan moves fewer" : "no bound is proved");
    if (planned.file.proof_forgotten) {
      std::cout << " (its proof is of a kind of before; plan again for one)";
    }
  } else {
    std::cout << "no plan of its space "
              << (objective.IsTime() ? "takes less than " : "moves fewer than ")
              << planned.plan.lower_bound << (objective.IsTime() ? " ns" : " bytes")
              << " (proof: " << search::WordOf(planned.plan.proof.kind) << ", replayed)";
  }
  if (!planned.file.entries.empty()) std::cout << "\n" << EntriesText(planned.file);
  std::cout << "\nshards, transfers, kernels and memory are those of its shardings\n";
  return absl::OkStatus();
}

}  // namespace

void AddCheck(CLI::App& app, int& exit_code) {
  auto flags = std::make_shared<CheckFlags>();
  CLI::App* command =
      AddCommand(app, "check", "recompute a plan's legality, cost, bound and all other fields");
  AddPlannedModelFlags(command, flags->model);
  AddPlanFile(command, flags->plan);
  AddJson(command, flags->json);
  OnRun(command, exit_code, [flags] {
    Json report;
    return Reported(flags->json, Check(*flags, report), report);
  });
}

}  // namespace yuba::tools
