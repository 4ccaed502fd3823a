// yuba show: inspects a plan file. The model is needed for one thing alone: when each buffer of the
// program lives, and where in the arena.
#include <CLI/CLI.hpp>
#include <filesystem>
#include <iostream>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/types/optional.h"
#include "nlohmann/json.hpp"
#include "opsemantics/base/files.h"
#include "opsemantics/base/module_name.h"
#include "opsemantics/base/status.h"
#include "tools/command.h"
#include "tools/command_line.h"
#include "tools/report/arena_report.h"
#include "tools/report/json_report.h"
#include "tools/report/nearest.h"
#include "tools/report/plan_report.h"
#include "tools/report/plan_rows.h"
#include "tools/report/text_table.h"
#include "tools/shown_plan.h"
#include "tools/subcommands.h"

namespace yuba::tools {
namespace {

struct ShowFlags {
  std::vector<std::string> files;  // the plan, or the model and the plan
  std::vector<std::string> operators;
  std::string tensor, node, html, dot, diff;
  bool transfers = false, memory = false, kernels = false, all = false, json = false;
};

// The pins of the plan and what they cost; "" where it has none.
std::string PinsLines(const search::PlanFile& plan) {
  if (plan.space.pins.empty()) return "";
  std::string text = absl::StrCat("\npins: ", absl::StrJoin(plan.space.pin_texts, ", "));
  if (plan.unpinned.has_value()) {
    absl::StrAppend(&text, "; together they cost ",
                    PinsCostText(plan.space.objective.kind(), plan.value(), plan.lower_bound,
                                 *plan.unpinned, SpanText(!plan.entries.empty())));
  }
  return text;
}

// ", 4.2 ms on hgx-h100"; "" where no machine is known.
std::string TimeOf(const search::PlanFile& plan) {
  const auto& machine = plan.space.objective.machine();
  return machine == nullptr ? ""
                            : absl::StrCat(", ", Duration(plan.time.all()), " on ", machine->name);
}

std::string OverviewText(const search::PlanFile& plan) {
  return absl::StrCat(
      "plan of ", plan.notes.graph_file, " (graph ", plan.notes.graph_hash.substr(0, 12),
      "), mesh ", MeshText(plan.mesh), ", ", Bytes(plan.cost.bytes()), " ",
      SpanText(!plan.entries.empty()), TimeOf(plan), ", ", BoundText(plan),
      plan.entries.empty() ? "" : "\n", EntriesText(plan), "\nspace: ", SpaceText(plan.space),
      PinsLines(plan), plan.stopped.empty() ? "" : "\n", StoppedText(plan), "\n",
      plan.space.objective.machine() == nullptr ? "" : TimeText(plan),
      "[32/abc, 64] reads: the first dimension, 32 long, ",
      "is cut over mesh axes a, b and c; the second is whole\n", WordsOfTransfers(""), "\n");
}

template <typename Row, typename Text>
absl::StatusOr<std::string> TextOfNamed(const std::vector<Row>& rows, const std::string& name,
                                        const char* what, Text text) {
  std::string near, first;
  int of_group = 0;
  std::vector<std::string> names;
  for (const Row& row : rows) {
    if (row.name == name || NameAlone(row.name) == name) return text(row);
    if (near.empty() && row.name.find(name) != std::string::npos) near = row.name;
    // Tables name a group of equal layers by what their names have in common.
    const auto is_member_of = [&](const std::string& row_name) {
      return NamePattern(name) == NamePattern(row_name) && CommonPattern(name, row_name) == name;
    };
    const bool is_member =
        name.find('*') != std::string::npos &&
        (is_member_of(row.name) || is_member_of(std::string(NameAlone(row.name))));
    if (is_member && of_group++ == 0) first = row.name;
    names.push_back(row.name);
    names.emplace_back(NameAlone(row.name));
  }
  if (of_group > 0) {
    return UserError("'", name, "' stands for ", Counted(of_group, what),
                     " of the plan: name one, as ", first);
  }
  if (near.empty()) near = NearestOf(name, names);
  return UserError(
      "the plan has no ", what, " '", name, "'",
      near.empty() ? "; yuba show --all lists them" : "; did you mean '" + near + "'?");
}

// The name in the plan of the tensor that a user calls `name`: of a next value its state's.
std::string NameInPlan(const search::PlanFile& plan, const std::string& name) {
  const auto state = plan.notes.options.find("state." + name);
  return state == plan.notes.options.end() ? name : state->second;
}

// How many bars of buffers are shown; nothing: all.
absl::optional<size_t> BarsOf(const ShowFlags& flags) {
  if (flags.all) return absl::nullopt;
  return flags.memory ? 24 : 8;
}

// What the flags ask for, each in its turn; "" where they ask for nothing.
absl::StatusOr<std::string> PartsText(const ShowFlags& flags, const ShownPlan& shown) {
  const search::PlanFile& plan = shown.plan;
  std::string text;
  if (!flags.tensor.empty()) {
    YUBA_ASSIGN_OR_RETURN(
        const std::string tensor,
        TextOfNamed(plan.tensors, NameInPlan(plan, flags.tensor), "tensor",
                    [&](const search::PlanFile::TensorRow& row) { return TensorText(plan, row); }));
    text += tensor;
  }
  if (!flags.node.empty()) {
    YUBA_ASSIGN_OR_RETURN(
        const std::string node,
        TextOfNamed(plan.nodes, flags.node, "node",
                    [&](const search::PlanFile::NodeRow& row) { return NodeText(plan, row); }));
    text += node;
  }
  if (!flags.diff.empty()) {
    YUBA_ASSIGN_OR_RETURN(const ShownPlan other, LoadShown({flags.diff}, {}));
    YUBA_RETURN_IF_ERROR(Annotate(CheckSameModel(plan, other.plan), flags.diff));
    text += DiffText(plan, other.plan, flags.all);
  }
  if (flags.transfers) text += TransfersText(plan);
  if (flags.memory) {
    absl::StrAppend(&text, CopiesText(plan, plan.copies.size()),
                    AccumulatorsText(plan, plan.accumulators.size()), MemoryText(plan), "\n",
                    shown.arena.has_value() ? ArenaText(*shown.arena, BarsOf(flags))
                                            : absl::StrCat(kModelForArena, "\n"));
  }
  if (flags.kernels) text += KernelsText(plan);
  // What --all asks for where they are shown: all bars of the arena, all rows of a difference.
  const bool other_rows = (flags.memory && shown.arena.has_value()) || !flags.diff.empty();
  if (flags.all && !text.empty() && !other_rows) text += NodeTableText(plan, true);
  return text;
}

std::string WholeText(const ShowFlags& flags, const ShownPlan& shown) {
  const search::PlanFile& plan = shown.plan;
  return absl::StrCat(OverviewText(plan), NodeTableText(plan, flags.all), "\n",
                      IndexLegendText(plan, flags.all), LargestTransfersText(plan, 8), "\n",
                      CopiesText(plan, 8), AccumulatorsText(plan, 8), MemoryText(plan),
                      shown.arena.has_value() ? "\n" + ArenaText(*shown.arena, BarsOf(flags)) : "",
                      "see also  --node N, --tensor T, --transfers, --arena, --kernels, --diff "
                      "PLAN, --html FILE\n");
}

// Writes the files that the flags name, and says so: on stderr where stdout is for JSON. What is no
// file, as /dev/stdout, gets the page alone.
absl::Status WriteFiles(const ShowFlags& flags, const ShownPlan& shown) {
  std::ostream& log = flags.json ? std::cerr : std::cout;
  const auto write = [&](const std::string& file, const std::string& text) -> absl::Status {
    YUBA_RETURN_IF_ERROR(WriteFile(file, text));
    std::error_code error;
    if (!std::filesystem::is_regular_file(file, error)) return absl::OkStatus();
    log << "wrote " << file << " (" << Bytes(static_cast<int64_t>(text.size())) << ")\n";
    if (file == flags.html && !shown.arena.has_value()) {
      log << "with memory over time: yuba show MODEL PLAN --html FILE\n";
    }
    return absl::OkStatus();
  };
  if (!flags.html.empty()) YUBA_RETURN_IF_ERROR(write(flags.html, PageOf(shown)));
  if (!flags.dot.empty()) YUBA_RETURN_IF_ERROR(write(flags.dot, PlanDot(shown.plan)));
  return absl::OkStatus();
}

absl::Status Show(const ShowFlags& flags, nlohmann::ordered_json& report) {
  YUBA_ASSIGN_OR_RETURN(const ShownPlan shown, LoadShown(flags.files, flags.operators));
  YUBA_ASSIGN_OR_RETURN(std::string text, PartsText(flags, shown));
  YUBA_RETURN_IF_ERROR(CheckOutput(flags.html));
  YUBA_RETURN_IF_ERROR(CheckOutput(flags.dot));
  if (!flags.html.empty() && flags.html == flags.dot) {
    return UserError("--html and --dot name the same file, ", flags.html, ": name two");
  }
  const bool memory_alone = flags.memory && flags.tensor.empty() && flags.node.empty() &&
                            flags.diff.empty() && !flags.transfers && !flags.kernels && !flags.all;
  if (flags.json && (flags.all || !text.empty()) && !memory_alone) {
    return UserError(
        "--json prints the whole plan, with --arena alone the memory: leave --tensor, --node, "
        "--transfers, --kernels, --all and --diff out");
  }
  YUBA_RETURN_IF_ERROR(WriteFiles(flags, shown));
  if (flags.json) {
    report = flags.memory ? MemoryJson(shown) : PlanJson(shown.plan);
    return absl::OkStatus();
  }
  const bool wrote = !flags.html.empty() || !flags.dot.empty();
  if (text.empty() && !wrote) text = WholeText(flags, shown);
  std::cout << text;
  return absl::OkStatus();
}

}  // namespace

void AddShow(CLI::App& app, int& exit_code) {
  auto flags = std::make_shared<ShowFlags>();
  CLI::App* command = AddCommand(app, "show", "inspect a plan");
  command
      ->add_option(
          "files", flags->files,
          "PLAN, or MODEL PLAN: the plan file, and before it the model, from which --arena "
          "and --html show the arena over time")
      ->required();
  AddOperators(command, flags->operators);
  command->add_option("--tensor", flags->tensor, "one tensor: how it is stored, who moves it");
  command->add_option("--node", flags->node, "one node: its cut and its transfers");
  command->add_flag("--transfers", flags->transfers, "every transfer");
  command->add_flag("--arena", flags->memory, "memory by device, what is replicated, the arena");
  command->add_flag("--kernels", flags->kernels, "the kernel of each node");
  command->add_flag("--all", flags->all,
                    "every node, none folded; with --arena every buffer, with --diff every row");
  command->add_option("--html", flags->html,
                      "write a page for a browser: graph, pieces of tensors, transfers, memory");
  command->add_option("--dot", flags->dot, "write a Graphviz graph");
  command->add_option("--diff", flags->diff, "compare with another plan");
  command->add_flag("--json", flags->json, "print what the tables say, or with --arena the memory");
  OnRun(command, exit_code, [flags] {
    nlohmann::ordered_json report;
    return Reported(flags->json, Show(*flags, report), report);
  });
}

}  // namespace yuba::tools
