// yuba show: inspects a plan file; the model is not needed.
#include <iostream>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "opsemantics/base/files.h"
#include "opsemantics/base/status.h"
#include "tools/command.h"
#include "tools/command_line.h"
#include "tools/report/plan_report.h"
#include "tools/report/text_table.h"
#include "tools/subcommands.h"

namespace yuba::tools {
namespace {

struct ShowFlags {
  std::string plan, tensor, node, html, dot, diff;
  bool transfers = false, memory = false, kernels = false, all = false, json = false;
};

absl::StatusOr<search::PlanFile> Load(const std::string& path, std::string* text = nullptr) {
  YUBA_ASSIGN_OR_RETURN(std::string contents, ReadFile(path));
  absl::StatusOr<search::PlanFile> plan = search::ReadPlan(contents);
  if (!plan.ok()) return Annotate(plan.status(), path);
  if (text != nullptr) *text = std::move(contents);
  return plan;
}

// The pins of the plan and what they cost; "" where it has none.
std::string PinsLines(const search::PlanFile& plan) {
  if (plan.space.pins.empty()) return "";
  std::string text = absl::StrCat("\npins: ", absl::StrJoin(plan.space.pin_texts, ", "));
  if (plan.unpinned.has_value()) {
    absl::StrAppend(&text, "; together they cost ",
                    PinsCostText(plan.cost.bytes(), plan.lower_bound, *plan.unpinned));
  }
  return text;
}

std::string OverviewText(const search::PlanFile& plan) {
  const int64_t bytes = plan.cost.bytes();
  return absl::StrCat(
      "plan of ", plan.notes.graph_file, " (graph ", plan.notes.graph_hash.substr(0, 12),
      "), mesh ", MeshText(plan.mesh), ", ", Bytes(bytes), " a step, ",
      plan.proof.kind == search::ProofKind::kNone
          ? NoBoundText(plan.search, bytes)
          : absl::StrCat("lower bound ", Bytes(plan.lower_bound), ", ",
                         GapText(bytes, plan.lower_bound), plan.replayed ? "" : ", ",
                         plan.replayed ? "" : kNotReplayed),
      "\nspace: ", SpaceText(plan.space), PinsLines(plan), plan.stopped.empty() ? "" : "\n",
      StoppedText(plan), "\n[32/abc, 64] reads: the first dimension, 32 long, ",
      "is cut over mesh axes a, b and c; the second is whole\n\n");
}

template <typename Row, typename Text>
absl::StatusOr<std::string> TextOfNamed(const std::vector<Row>& rows, const std::string& name,
                                        const char* what, Text text) {
  std::string near;
  for (const Row& row : rows) {
    if (row.name == name) return text(row);
    if (near.empty() && row.name.find(name) != std::string::npos) near = row.name;
  }
  return UserError(
      "the plan has no ", what, " '", name, "'",
      near.empty() ? "; yuba show --all lists them" : "; did you mean '" + near + "'?");
}

// The name in the plan of the tensor that a user calls `name`: of a next value its state's.
std::string NameInPlan(const search::PlanFile& plan, const std::string& name) {
  const auto state = plan.notes.options.find("state." + name);
  return state == plan.notes.options.end() ? name : state->second;
}

// What the flags ask for, each in its turn; "" where they ask for nothing.
absl::StatusOr<std::string> PartsText(const ShowFlags& flags, const search::PlanFile& plan) {
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
    YUBA_ASSIGN_OR_RETURN(const search::PlanFile other, Load(flags.diff));
    text += DiffText(plan, other);
  }
  if (flags.transfers) text += TransfersText(plan);
  if (flags.memory) {
    absl::StrAppend(&text, CopiesText(plan, plan.copies.size()),
                    AccumulatorsText(plan, plan.accumulators.size()), MemoryText(plan));
  }
  if (flags.kernels) text += KernelsText(plan);
  if (flags.all && !text.empty()) text += NodeTableText(plan, true);
  return text;
}

std::string WholeText(const ShowFlags& flags, const search::PlanFile& plan) {
  return absl::StrCat(OverviewText(plan), NodeTableText(plan, flags.all), "\n",
                      LargestTransfersText(plan, 8), "\n", CopiesText(plan, 8),
                      AccumulatorsText(plan, 8), MemoryText(plan),
                      "see also  --node N, --tensor T, --transfers, --memory, --kernels, --diff "
                      "PLAN, --html FILE\n");
}

absl::Status Show(const ShowFlags& flags) {
  std::string file;
  YUBA_ASSIGN_OR_RETURN(search::PlanFile plan, Load(flags.plan, &file));
  YUBA_ASSIGN_OR_RETURN(std::string text, PartsText(flags, plan));
  YUBA_RETURN_IF_ERROR(CheckOutput(flags.html));
  YUBA_RETURN_IF_ERROR(CheckOutput(flags.dot));
  if (!flags.html.empty() && flags.html == flags.dot) {
    return UserError("--html and --dot name the same file, ", flags.html, ": name two");
  }
  if (flags.json && (flags.all || !text.empty())) {
    return UserError(
        "--json prints the whole plan file: leave --tensor, --node, --transfers, --memory, "
        "--kernels, --all and --diff out");
  }
  if (!flags.html.empty()) YUBA_RETURN_IF_ERROR(WriteFile(flags.html, PlanHtml(plan)));
  if (!flags.dot.empty()) YUBA_RETURN_IF_ERROR(WriteFile(flags.dot, PlanDot(plan)));
  if (text.empty()) text = flags.json ? file : WholeText(flags, plan);
  std::cout << text;
  return absl::OkStatus();
}

}  // namespace

void AddShow(CLI::App& app, int& exit_code) {
  auto flags = std::make_shared<ShowFlags>();
  CLI::App* command = app.add_subcommand("show", "inspect a plan");
  command->add_option("plan", flags->plan, "the plan file")->required();
  command->add_option("--tensor", flags->tensor, "one tensor: how it is stored, who moves it");
  command->add_option("--node", flags->node, "one node: its cut and its transfers");
  command->add_flag("--transfers", flags->transfers, "every transfer");
  command->add_flag("--memory", flags->memory, "memory by device, and what is replicated");
  command->add_flag("--kernels", flags->kernels, "the kernel of each node");
  command->add_flag("--all", flags->all, "every node, none folded");
  command->add_option("--html", flags->html, "write a self-contained page");
  command->add_option("--dot", flags->dot, "write a Graphviz graph");
  command->add_option("--diff", flags->diff, "compare with another plan");
  command->add_flag("--json", flags->json, "print the plan file");
  OnRun(command, exit_code, [flags] { return Show(*flags); });
}

}  // namespace yuba::tools
