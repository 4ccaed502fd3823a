#include "tools/make_plan.h"

#include <algorithm>
#include <chrono>
#include <iostream>
#include <thread>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "compiler/phases.h"
#include "opsemantics/base/clock.h"
#include "opsemantics/base/status.h"
#include "opsemantics/machine/find_machine.h"
#include "search/file/plan_file.h"
#include "search/search.h"
#include "tools/command_line.h"
#include "tools/flags/machine_defaults.h"
#include "tools/flags/plan_options.h"
#include "tools/flags/space_flag.h"
#include "tools/program/plan_notes.h"
#include "tools/program/predict_plan.h"
#include "tools/report/search_report.h"
#include "tools/report/text_table.h"
#include "tools/terminal/progress_line.h"

namespace yuba::tools {

bool IsBeforeSearch(const std::string& name) {
  for (const compiler::Phase& phase : compiler::Phases()) {
    if (phase.name == std::string("search")) return false;
    if (phase.name == name) return true;
  }
  return false;
}

namespace {

// `bare` becomes the graph that the search begins with, which shares nothing yet.
absl::Status RunThem(const PartitionFlags& flags,
                     const std::function<absl::Status()>& before_search,
                     compiler::Compilation& compilation, Graph& bare,
                     absl::optional<InterruptNote>& note) {
  compiler::PhaseOptions options;
  options.to = flags.to.empty() && flags.dump.empty() ? "search" : flags.to;
  options.dump_dir = flags.dump;
  options.verify = !flags.no_check;
  options.go_on = [&](const compiler::Phase& phase) -> absl::StatusOr<bool> {
    ProgressLine::Begin(absl::StrCat("phase ", phase.name));
    if (IsBeforeSearch(phase.name)) return true;
    if (note.has_value()) return !InterruptNote::Came();
    YUBA_RETURN_IF_ERROR(before_search());
    WarnOfNewOpset(compilation.model);
    note.emplace(kSearchStops);
    bare = compilation.model.graph;
    return true;
  };
  if (!flags.dump.empty()) options.log = &std::cerr;
  return compiler::RunPhases(options, compilation);
}

// What is to be small: what the flag says, else time on a machine.
absl::StatusOr<search::Objective> ObjectiveOf(const PartitionFlags& flags,
                                              const std::shared_ptr<const Machine>& machine) {
  const bool asks_for_time = flags.objective == search::WordOf(search::ObjectiveKind::kTime);
  if (asks_for_time && flags.search != "default") {
    return UserError("--search ", flags.search,
                     " counts bytes and knows no --objective time: use default");
  }
  if (machine == nullptr) {
    if (!asks_for_time) {
      return search::Objective();
    }
    return UserError("--objective time needs a machine: --machine NAME, one of ",
                     absl::StrJoin(MachineNames(), ", "), ", or a file of yuba calibrate");
  }
  const auto kind = flags.objective.empty()
                        ? search::ObjectiveKind::kTime
                        : *search::FromWord<search::ObjectiveKind>(flags.objective);
  return search::Objective(kind, machine);
}

// Replicas and the limit on memory: what the flags say, else what the least time on a machine asks
// for.
void SetLimits(const PartitionFlags& flags, search::SearchOptions& options) {
  if (options.objective.IsTime() && options.search == "default") {
    FollowMachine(options.objective.machine(), options);
  }
  if (!flags.replicate.empty()) {
    options.replicate = *search::FromWord<search::Replicate>(flags.replicate);
  }
  if (flags.memory.has_value()) options.memory_limit = *flags.memory;
}

// The search that the flags ask for.
absl::StatusOr<search::SearchOptions> SearchOptionsOf(const PartitionFlags& flags,
                                                      const MeshOnMachine& on,
                                                      const SpaceWords& space) {
  search::SearchOptions options;
  options.mesh = on.mesh;
  YUBA_ASSIGN_OR_RETURN(options.objective, ObjectiveOf(flags, on.machine()));
  options.search = flags.search;
  SetSpace(space, options);
  options.pin_texts = flags.pins;
  options.time_limit = flags.time_limit;
  options.threads = flags.threads;
  options.asked = InterruptNote::Came;
  SetLimits(flags, options);
  options.without = {flags.without.begin(), flags.without.end()};
  options.progress = [](const search::SearchProgress& progress) {
    ProgressLine::Say(ProgressText(progress));
  };
  if (flags.verbose) {
    options.report = [](const search::EngineReport& report) { std::cerr << EngineText(report); };
  }
  return options;
}

absl::StatusOr<search::PlanNotes> NotesOf(const PartitionFlags& flags, const LoadedModel& loaded,
                                          const search::Plan& plan,
                                          const search::SearchOptions& options,
                                          bool machine_found) {
  search::PlanNotes notes = NotesFor(loaded, flags.model);
  notes.machine_found = machine_found;
  if (options.nesting == search::Nesting::kLevel) notes.options["space"] = "tofu";
  notes.options["devices"] = absl::StrCat(options.mesh.devices());
  if (options.objective.machine() != nullptr) {
    notes.options["machine"] = options.objective.machine()->name;
    notes.options["objective"] = search::WordOf(plan.space.objective.kind());
  }
  notes.options["search"] = options.search;
  notes.options["copies"] = plan.space.copies ? "all" : "none";
  notes.options["replicate"] = search::WordOf(plan.space.replicate);
  notes.options["memory"] = absl::StrCat(plan.space.memory);
  if (!flags.without.empty()) notes.options["without"] = absl::StrJoin(flags.without, ",");
  if (flags.no_check) notes.options["no-check"] = "true";
  YUBA_RETURN_IF_ERROR(AddProgramNotes(loaded.model, plan, !flags.no_check, notes));
  ProgressLine::End();
  return notes;
}

// Where nothing fits the limit that nobody but the machine stated, says so.
absl::Status WithMachinesLimit(const absl::Status& status, const PartitionFlags& flags,
                               const search::SearchOptions& options) {
  if (!absl::IsFailedPrecondition(status) || flags.memory.has_value() ||
      options.memory_limit == 0) {
    return status;
  }
  return absl::FailedPreconditionError(
      absl::StrCat(status.message(), "; the limit is what programs have on a device of ",
                   options.objective.machine()->name, ", ", Bytes(options.memory_limit),
                   ": --memory none plans without it"));
}

// What the notes say of an option; "" where they say nothing.
std::string Option(const search::PlanFile& file, const std::string& name) {
  const auto found = file.notes.options.find(name);
  return found == file.notes.options.end() ? "" : found->second;
}

// The words of --space that the plan was asked for with.
std::vector<std::string> SpaceOf(const search::PlanFile& file) {
  const std::string asked = Option(file, "space");
  std::vector<std::string> words = {asked.empty() ? "default" : asked};
  // Others than the default search know neither; what their plans have is theirs.
  if (asked == "tofu" || file.search != "default") return words;
  words.push_back(file.space.copies ? "copies=all" : "copies=none");
  words.push_back(file.space.partials ? "partials=auto" : "partials=none");
  return words;
}

}  // namespace

absl::StatusOr<MadePlan> MakePlan(PartitionFlags& flags,
                                  const std::function<absl::Status()>& before_search,
                                  absl::optional<InterruptNote>& note) {
  flags.model.list_all = flags.verbose;
  YUBA_ASSIGN_OR_RETURN(const SpaceWords space, ParseSpace(flags.space));
  flags.model.factors = space.HasFactors();
  MadePlan made;
  YUBA_ASSIGN_OR_RETURN(const MeshOnMachine on, MeshOfFlags(flags.mesh));
  YUBA_ASSIGN_OR_RETURN(made.options, SearchOptionsOf(flags, on, space));
  made.no_machine = on.chosen.why_none;
  YUBA_ASSIGN_OR_RETURN(made.loaded.library, LoadLibrary(flags.model.operators));
  compiler::Compilation compilation;
  YUBA_ASSIGN_OR_RETURN(compilation.request, RequestOf(flags.model, made.loaded.library));
  made.loaded.bound = ContentHashes(compilation.request.import);
  compilation.request.search = made.options;
  compilation.request.step_of = PredictedStep;
  LevelByLevel by_level;
  compilation.request.search.by_level = [&](const Graph& graph, int64_t bytes) {
    by_level = {space.HasFactors(), graph.tensors.size(), graph.nodes.size(), bytes};
  };
  compilation.request.search.flat_too = space.dimensions == "default" && flags.search == "default";
  const auto start = std::chrono::steady_clock::now();
  YUBA_RETURN_IF_ERROR(WithMachinesLimit(
      RunThem(flags, before_search, compilation, made.bare, note), flags, made.options));
  made.seconds = SecondsSince(start);
  made.search_seconds = compilation.search_seconds;
  made.by_level = by_level;
  ProgressLine::End();
  made.loaded.model = std::move(compilation.model);
  made.plan = std::move(compilation.plan);
  made.options.factors = flags.model.factors = made.plan.space.factors;
  const Graph& graph = made.loaded.model.graph;
  if (made.plan.tensors.size() != graph.tensors.size()) return made;
  YUBA_ASSIGN_OR_RETURN(const search::PlanNotes notes,
                        NotesOf(flags, made.loaded, made.plan, made.options, on.chosen.found));
  made.text = search::WritePlan(graph, made.plan, notes);
  return made;
}

absl::StatusOr<PartitionFlags> FlagsOfPlan(const search::PlanFile& file, ModelFlags model,
                                           int devices) {
  PartitionFlags flags;
  flags.model = std::move(model);
  YUBA_RETURN_IF_ERROR(TakeOptions(file.notes, flags.model));
  flags.mesh.devices = devices;
  flags.mesh.machine = Option(file, "machine");
  flags.space = SpaceOf(file);
  flags.objective = Option(file, "objective");
  flags.search = file.search;
  if (flags.search == "default") {  // others know neither
    flags.replicate = Option(file, "replicate");
    int64_t memory = 0;
    if (absl::SimpleAtoi(Option(file, "memory"), &memory)) flags.memory = memory;
  }
  for (const absl::string_view engine :
       absl::StrSplit(Option(file, "without"), ',', absl::SkipEmpty())) {
    flags.without.emplace(engine);
  }
  flags.no_check = Option(file, "no-check") == "true";
  flags.threads = std::clamp<int>(std::thread::hardware_concurrency(), 1, kMostThreads);
  return flags;
}

}  // namespace yuba::tools
