// yuba partition: searches, writes the plan, prints a summary.
#include <chrono>
#include <iostream>
#include <set>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "compiler/phases.h"
#include "compiler/search_model.h"
#include "opsemantics/base/clock.h"
#include "opsemantics/base/files.h"
#include "opsemantics/base/status.h"
#include "opsemantics/machine/find_machine.h"
#include "search/baselines/baselines.h"
#include "search/file/plan_file.h"
#include "search/file/read_back.h"
#include "search/model/plan_problem.h"
#include "search/search.h"
#include "tools/alternatives.h"
#include "tools/command.h"
#include "tools/command_line.h"
#include "tools/flags/machine_defaults.h"
#include "tools/flags/partition_flags.h"
#include "tools/flags/space_flag.h"
#include "tools/interrupt.h"
#include "tools/program/plan_notes.h"
#include "tools/program/predict_plan.h"
#include "tools/report/plan_report.h"
#include "tools/report/search_report.h"
#include "tools/report/text_table.h"
#include "tools/subcommands.h"
#include "tools/terminal/progress_line.h"

namespace yuba::tools {
namespace {

// Whether there is no plan yet behind the phase of this name.
bool IsBeforeSearch(const std::string& name) {
  for (const compiler::Phase& phase : compiler::Phases()) {
    if (phase.name == std::string("search")) return false;
    if (phase.name == name) return true;
  }
  return false;
}

// Runs the phases up to the plan, or as far as --to says; with --dump each state is written. `note`
// is set when the search begins: before that there is nothing to show, and Ctrl-C ends the program.
// `bare` becomes the graph that the search begins with, which shares nothing yet.
absl::Status RunThem(const PartitionFlags& flags, const std::string& output,
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
    YUBA_RETURN_IF_ERROR(CheckOutput(output));  // not before all inputs are known
    WarnOfNewOpset(compilation.model);
    note.emplace(kSearchStops);
    bare = compilation.model.graph;
    return true;
  };
  if (!flags.dump.empty()) options.log = &std::cerr;
  return compiler::RunPhases(options, compilation);
}

void PrintNext(const PartitionFlags& flags, const std::string& output, size_t bytes) {
  const std::string plan = ShellFile(output);
  std::string both = absl::StrCat(ShellFile(flags.model.file), " ", plan);
  // All other flags that change the graph are in the plan.
  for (const std::string& file : flags.model.operators) {
    absl::StrAppend(&both, " --operators ", ShellFile(file));
  }
  std::cout << "\nwrote " << output << " (" << Bytes(static_cast<int64_t>(bytes)) << ").  Next:\n"
            << "  yuba show " << plan
            << "\n      every node and transfer; --html FILE for a picture\n"
            << "  yuba verify " << both << "\n      prove it equals the whole model\n"
            << "  yuba run " << both << "\n      --help for inputs and weights\n";
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

// What the plan level by level moves, where the search has made one as a start, and of which graph.
struct LevelByLevel {
  bool factors = true;
  size_t tensors = 0, nodes = 0;
  int64_t bytes = 0;
  bool IsOf(const Graph& graph, const search::Plan& plan) const {
    return nodes > 0 && nodes == graph.nodes.size() && tensors == graph.tensors.size() &&
           factors == plan.space.factors;
  }
};

// The value of the plan of a plain search level by level, to print beside the default's; nothing
// where that search does not end in time, or cannot follow the pins.
absl::StatusOr<absl::optional<int64_t>> RecursiveValue(const PartitionFlags& flags,
                                                       const Graph& graph,
                                                       const search::Plan& found,
                                                       const LevelByLevel& known,
                                                       search::SearchOptions options) {
  const bool plain = found.space.memory == 0 && options.replicate == search::Replicate::kNone;
  if (flags.search != "default" || !plain || options.mesh.devices() == 1) {
    return absl::optional<int64_t>();
  }
  if (known.IsOf(graph, found)) return absl::optional<int64_t>(known.bytes);
  options.search = "recursive";
  options.report = nullptr;
  options.progress = nullptr;
  const absl::StatusOr<search::Plan> plan = search::Search(graph, options);
  if (absl::IsCancelled(plan.status()) || absl::IsInvalidArgument(plan.status())) {
    return absl::optional<int64_t>();
  }
  YUBA_RETURN_IF_ERROR(plan.status());
  if (!plan->stopped.empty()) return absl::optional<int64_t>();
  const bool time = options.objective.IsTime();
  return absl::optional<int64_t>(time ? plan->time.all() : plan->cost.bytes());
}

// The tensors of the plan that are in fewer parts than their dimensions allow.
std::vector<TensorId> InFewerParts(const search::PlanFile& file) {
  std::set<std::string> names;
  for (const ReplicatedTensor& tensor : Replicated(file)) {
    if (tensor.parts < tensor.most) names.insert(tensor.name);
  }
  std::vector<TensorId> tensors;
  for (size_t t = 0; t < file.tensors.size(); ++t) {
    if (names.count(file.tensors[t].name) > 0) tensors.push_back(static_cast<TensorId>(t));
  }
  return tensors;
}

// On so many devices the memory of another plan is quickly known; on 1024 it takes seconds.
constexpr int kQuickDevices = 64;

// What --replicate auto may give, by data parallelism, one of its plans; "" where that moves no
// less, or where the plan was asked for with flags that it need not follow.
std::string ReplicasText(const Graph& bare, const search::Plan& plan,
                         const search::SearchOptions& options) {
  const bool comparable = plan.search == "default" && plan.space.pins.empty() &&
                          plan.space.replicate == search::Replicate::kNone &&
                          options.mesh.devices() > 1 && options.mesh.devices() <= kQuickDevices;
  if (!comparable || plan.cost.bytes() == 0 || bare.nodes.empty()) return "";
  const absl::optional<DataParallelism> data = DataParallelismOf(bare, options);
  if (!data.has_value() || data->bytes >= plan.cost.bytes()) return "";
  const bool fits = options.memory_limit == 0 || data->arena <= options.memory_limit;
  return absl::StrCat("--replicate auto: ", Bytes(data->bytes), " ",
                      SpanText(bare.entries.size() > 1), " or less, as data ",
                      "parallelism, which needs ", Bytes(data->arena), " a device",
                      fits ? "" : ", more than --memory");
}

// The other end of what copies are worth, where nothing limits them: the same plan without any.
std::string CopiesText(const Graph& graph, const search::Plan& plan) {
  if (plan.search != "default" || plan.space.memory > 0) return "";
  const int shared = search::SharedCopies(graph, plan);
  if (shared == 0) return "";
  const search::Plan plain = search::WithoutSharing(graph, plan);
  return absl::StrCat("without its ", shared, shared == 1 ? " copy" : " copies", " it would move ",
                      Bytes(plain.cost.bytes()), ", and need ",
                      Bytes(search::PeakOfPlan(graph, plain)),
                      " or a little more; --memory finds plans between");
}

// What the phases made.
struct Found {
  const Graph& graph;
  const Graph& bare;  // without copies
  const search::Plan& plan;
  const search::PlanFile& file;
  const std::string& no_machine;  // why none was found
  const LevelByLevel& by_level;
  double seconds = 0, search_seconds = 0;  // of all phases, and of the search alone
};

absl::Status PrintPlan(const PartitionFlags& flags, const Found& found,
                       search::SearchOptions options) {
  const auto& [graph, bare, plan, file, no_machine, known_by_level, seconds, search_seconds] =
      found;
  // Searches that are made only to print their figures get no more than the rest of the time.
  const double left = flags.time_limit > 0 ? flags.time_limit - seconds : 1e9;
  const bool search_on = plan.stopped.empty() && left > 0 && !InterruptNote::Came();
  absl::optional<int64_t> by_level;
  if (search_on) {
    options.time_limit = std::min(left, seconds + 1);
    YUBA_ASSIGN_OR_RETURN(by_level, RecursiveValue(flags, graph, plan, known_by_level, options));
  }
  const bool split = plan.space.replicate == search::Replicate::kNone;
  const std::vector<TensorId> fewer = split ? InFewerParts(file) : std::vector<TensorId>();
  std::cout << SearchText(plan, flags.search, by_level, static_cast<int64_t>(fewer.size()),
                          search_seconds);
  if (plan.space.nesting == search::Nesting::kLevel && plan.mesh.axes.size() > 1) {
    std::cout << LevelsText(graph, plan);
  }
  std::vector<search::PinPrice> prices;
  if (!options.pin_texts.empty() && search_on) {
    options.time_limit = left;
    options.memory_of = compiler::ArenaBytes;
    YUBA_ASSIGN_OR_RETURN(prices, search::PricesOfPins(graph, options, plan));
  }
  std::cout << PinsText(plan, prices, SpanText(graph.entries.size() > 1));
  Alternatives alternatives;
  alternatives.no_machine = no_machine;
  alternatives.copies = CopiesText(graph, plan);
  alternatives.bytes_of_most_parts = BytesOfMostParts(graph, plan, fewer);
  if (search_on) alternatives.replicas = ReplicasText(bare, plan, options);
  std::cout << "\n" << SummaryText(file, alternatives);
  return absl::OkStatus();
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

absl::Status Partition(PartitionFlags flags) {
  if (IsBeforeSearch(flags.to) && !flags.output.empty()) {
    return UserError("--to ", flags.to, " ends before there is a plan for -o ", flags.output,
                     ": leave one of them out");
  }
  flags.model.list_all = flags.verbose;
  YUBA_ASSIGN_OR_RETURN(const SpaceWords space, ParseSpace(flags.space));
  flags.model.factors = space.HasFactors();
  const std::string output =
      flags.output.empty() ? WithExtension(flags.model.file, ".plan.json") : flags.output;
  YUBA_RETURN_IF_ERROR(CheckOutput(output));
  compiler::Compilation compilation;
  YUBA_ASSIGN_OR_RETURN(const MeshOnMachine on, MeshOfFlags(flags.mesh));
  YUBA_ASSIGN_OR_RETURN(search::SearchOptions options, SearchOptionsOf(flags, on, space));
  LoadedModel loaded;
  YUBA_ASSIGN_OR_RETURN(loaded.library, LoadLibrary(flags.model.operators));
  YUBA_ASSIGN_OR_RETURN(compilation.request, RequestOf(flags.model, loaded.library));
  loaded.bound = ContentHashes(compilation.request.import);
  compilation.request.search = options;
  compilation.request.step_of = PredictedStep;
  LevelByLevel by_level;
  compilation.request.search.by_level = [&](const Graph& graph, int64_t bytes) {
    by_level = {space.HasFactors(), graph.tensors.size(), graph.nodes.size(), bytes};
  };
  compilation.request.search.flat_too = space.dimensions == "default" && flags.search == "default";
  absl::optional<InterruptNote> interrupt_note;
  Graph bare;
  const auto start = std::chrono::steady_clock::now();
  YUBA_RETURN_IF_ERROR(
      WithMachinesLimit(RunThem(flags, output, compilation, bare, interrupt_note), flags, options));
  const double seconds = SecondsSince(start);
  ProgressLine::End();
  loaded.model = std::move(compilation.model);
  const search::Plan& plan = compilation.plan;
  const Graph& graph = loaded.model.graph;
  options.factors = flags.model.factors = plan.space.factors;
  if (!flags.json && !flags.quiet) {
    std::cout << ModelText(loaded.model);
    std::cout << NotesText(loaded.model.notes);
  }
  if (plan.tensors.size() != graph.tensors.size()) {
    if (!flags.quiet) {
      (flags.json ? std::cerr : std::cout) << "stopped after " << flags.to << ": no plan is made\n";
    }
    return absl::OkStatus();
  }
  YUBA_ASSIGN_OR_RETURN(const search::PlanNotes notes,
                        NotesOf(flags, loaded, plan, options, on.chosen.found));
  const std::string text = search::WritePlan(graph, plan, notes);
  YUBA_ASSIGN_OR_RETURN(const search::PlanFile file, search::ReadBack(graph, plan, text));
  YUBA_RETURN_IF_ERROR(WriteFile(output, text));
  if (flags.json) std::cout << text;
  if (flags.json || flags.quiet) return absl::OkStatus();
  YUBA_RETURN_IF_ERROR(PrintPlan(
      flags,
      {graph, bare, plan, file, on.chosen.why_none, by_level, seconds, compilation.search_seconds},
      options));
  PrintNext(flags, output, text.size());
  return absl::OkStatus();
}

}  // namespace

void AddPartition(CLI::App& app, int& exit_code) {
  auto flags = std::make_shared<PartitionFlags>();
  CLI::App* command = AddCommand(app, "partition", "search a plan for k devices and write it");
  AddPartitionFlags(command, *flags);
  OnRun(command, exit_code, [flags] { return Partition(*flags); });
}

}  // namespace yuba::tools
