// yuba partition: searches, writes the plan, prints a summary.
#include <iostream>
#include <set>

#include "absl/strings/str_cat.h"
#include "compiler/search_model.h"
#include "opsemantics/base/files.h"
#include "opsemantics/base/status.h"
#include "search/baselines/baselines.h"
#include "search/file/plan_file.h"
#include "search/file/read_back.h"
#include "search/model/plan_problem.h"
#include "search/search.h"
#include "tools/alternatives.h"
#include "tools/command.h"
#include "tools/command_line.h"
#include "tools/flags/partition_flags.h"
#include "tools/interrupt.h"
#include "tools/make_plan.h"
#include "tools/report/plan_report.h"
#include "tools/report/search_report.h"
#include "tools/report/text_table.h"
#include "tools/subcommands.h"
#include "tools/terminal/progress_line.h"

namespace yuba::tools {
namespace {

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

absl::Status PrintPlan(const PartitionFlags& flags, const MadePlan& made,
                       const search::PlanFile& file) {
  search::SearchOptions options = made.options;
  const Graph &graph = made.loaded.model.graph, &bare = made.bare;
  const search::Plan& plan = made.plan;
  const double seconds = made.seconds;
  // Searches that are made only to print their figures get no more than the rest of the time.
  const double left = flags.time_limit > 0 ? flags.time_limit - seconds : 1e9;
  const bool search_on = plan.stopped.empty() && left > 0 && !InterruptNote::Came();
  absl::optional<int64_t> by_level;
  if (search_on) {
    options.time_limit = std::min(left, seconds + 1);
    YUBA_ASSIGN_OR_RETURN(by_level, RecursiveValue(flags, graph, plan, made.by_level, options));
  }
  const bool split = plan.space.replicate == search::Replicate::kNone;
  const std::vector<TensorId> fewer = split ? InFewerParts(file) : std::vector<TensorId>();
  std::cout << SearchText(plan, flags.search, by_level, static_cast<int64_t>(fewer.size()),
                          made.search_seconds);
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
  alternatives.no_machine = made.no_machine;
  alternatives.copies = CopiesText(graph, plan);
  alternatives.bytes_of_most_parts = BytesOfMostParts(graph, plan, fewer);
  if (search_on) alternatives.replicas = ReplicasText(bare, plan, options);
  std::cout << "\n" << SummaryText(file, alternatives);
  return absl::OkStatus();
}

absl::Status Partition(PartitionFlags flags) {
  if (IsBeforeSearch(flags.to) && !flags.output.empty()) {
    return UserError("--to ", flags.to, " ends before there is a plan for -o ", flags.output,
                     ": leave one of them out");
  }
  const std::string output =
      flags.output.empty() ? WithExtension(flags.model.file, ".plan.json") : flags.output;
  YUBA_RETURN_IF_ERROR(CheckOutput(output));
  absl::optional<InterruptNote> note;
  YUBA_ASSIGN_OR_RETURN(const MadePlan made,
                        MakePlan(flags, [&output] { return CheckOutput(output); }, note));
  if (!flags.json && !flags.quiet) {
    std::cout << ModelText(made.loaded.model);
    std::cout << NotesText(made.loaded.model.notes);
  }
  if (made.text.empty()) {
    if (!flags.quiet) {
      (flags.json ? std::cerr : std::cout) << "stopped after " << flags.to << ": no plan is made\n";
    }
    return absl::OkStatus();
  }
  YUBA_ASSIGN_OR_RETURN(const search::PlanFile file,
                        search::ReadBack(made.loaded.model.graph, made.plan, made.text));
  YUBA_RETURN_IF_ERROR(WriteFile(output, made.text));
  if (flags.json) std::cout << made.text;
  if (flags.json || flags.quiet) return absl::OkStatus();
  YUBA_RETURN_IF_ERROR(PrintPlan(flags, made, file));
  PrintNext(flags, output, made.text.size());
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
