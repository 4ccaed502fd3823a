// yuba partition: searches, writes the plan, prints a summary.
#include <chrono>
#include <iostream>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "opsemantics/base/status.h"
#include "opsemantics/structure.h"
#include "search/plan_file.h"
#include "search/search.h"
#include "tools/command.h"
#include "opsemantics/base/files.h"
#include "tools/plan_notes.h"
#include "tools/plan_report.h"
#include "tools/subcommands.h"
#include "tools/text_table.h"

namespace yuba {
namespace {

struct PartitionFlags {
  ModelFlags model;
  int devices = 8;
  std::string search = "default";
  std::string output;
  bool json = false;
  bool quiet = false;
};

double SecondsSince(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

std::string InputsText(const Graph& graph) {
  return absl::StrJoin(graph.inputs, ", ", [&](std::string* out, TensorId id) {
    const Tensor& tensor = graph.tensors[id];
    absl::StrAppend(out, tensor.name, ": ", Name(tensor.type.type), "[",
                    absl::StrJoin(WholeDims(tensor), ", "), "]");
  });
}

std::string ModelText(const Model& model) {
  int64_t parameters = 0, bytes = 0, flops = 0;
  for (const Tensor& tensor : model.graph.tensors) {
    if (tensor.kind != TensorKind::kParameter) continue;
    parameters += ElementCount(tensor.type);
    bytes += ElementCount(tensor.type) * ByteSize(tensor.type.type);
  }
  for (const Node& node : model.graph.nodes) {
    flops += Flops(*node.definition, WholeRanges(*node.definition));
  }
  return absl::StrCat(BaseName(model.file), "  opset ", model.opset, ", ", model.file_nodes, " nodes (",
                      model.graph.nodes.size(), " definitions to plan), ", Count(parameters),
                      " parameters (", Bytes(bytes), "), ", InputsText(model.graph), "; ", Count(flops),
                      "FLOP a step\n");
}

std::string SearchText(const Plan& plan, absl::optional<int64_t> by_level, double seconds) {
  std::string text = absl::StrFormat(
      "search         %d devices as mesh %s; every tensor split; fewest bytes   %.1f s\n",
      plan.mesh.devices(), MeshText(plan.mesh), seconds);
  const int64_t bytes = plan.cost.bytes();
  text += "               ";
  if (by_level.has_value()) {
    absl::StrAppend(&text, "level by level ", Bytes(*by_level), ", all levels together ");
  }
  absl::StrAppend(&text, Bytes(bytes));
  if (plan.lower_bound == bytes) {
    absl::StrAppend(&text, ": optimal in its space (", plan.space.nesting,
                    " nesting, factors; lower bound equal, proof: ", plan.proof.kind, ")\n");
  } else {
    absl::StrAppendFormat(&text, ": lower bound %s, gap %.2f %%\n", Bytes(plan.lower_bound),
                          bytes == 0 ? 0.0 : 100.0 * (bytes - plan.lower_bound) / bytes);
  }
  return text;
}

absl::Status Partition(const PartitionFlags& flags) {
  if (flags.devices < 1) {
    return UserError("--devices ", flags.devices, ": at least one device is needed");
  }
  if (flags.devices > 4096) {
    return UserError("--devices ", flags.devices, ": at most 4096 devices are planned for");
  }
  const std::string output =
      flags.output.empty() ? WithExtension(flags.model.file, ".plan.json") : flags.output;
  YUBA_ASSIGN_OR_RETURN(LoadedModel loaded, LoadModel(flags.model));
  const Graph& graph = loaded.model.graph;
  if (!flags.json) {
    std::cout << ModelText(loaded.model);
    for (const std::string& note : loaded.model.notes) std::cout << "               " << note << "\n";
  }
  const auto start = std::chrono::steady_clock::now();
  SearchOptions options;
  options.mesh = MeshOf(flags.devices);
  options.search = flags.search;
  if (!flags.json && graph.nodes.size() > 200) std::cerr << "searching ...\n";
  YUBA_ASSIGN_OR_RETURN(Plan plan, Search(graph, options));
  const double seconds = SecondsSince(start);
  absl::optional<int64_t> by_level;
  if (flags.search == "default" && flags.devices > 1) {
    options.search = "recursive";
    YUBA_ASSIGN_OR_RETURN(Plan recursive, Search(graph, options));
    by_level = recursive.cost.bytes();
  }
  PlanNotes notes = NotesFor(loaded, flags.model);
  notes.options["devices"] = absl::StrCat(flags.devices);
  notes.options["search"] = flags.search;
  AddProgramNotes(loaded.model, plan, notes);
  const std::string text = WritePlan(graph, plan, notes);
  YUBA_RETURN_IF_ERROR(WriteFile(output, text));
  if (flags.json) {
    std::cout << text;
    return absl::OkStatus();
  }
  YUBA_ASSIGN_OR_RETURN(PlanFile file, ReadPlan(text));
  std::cout << SearchText(plan, by_level, seconds) << "\n" << SummaryText(file);
  std::cout << "\nwrote " << output << " (" << Bytes(static_cast<int64_t>(text.size())) << ").  Next:\n"
            << "  yuba show " << output << "\n      every node and transfer; --html FILE for a picture\n"
            << "  yuba verify " << flags.model.file << " " << output
            << "\n      prove it equals the whole model\n"
            << "  yuba run " << flags.model.file << " " << output << "\n      --help for inputs and weights\n";
  return absl::OkStatus();
}

}  // namespace

void AddPartition(CLI::App& app, int& exit_code) {
  auto flags = std::make_shared<PartitionFlags>();
  CLI::App* command = app.add_subcommand("partition", "search a plan for k devices and write it");
  AddModelFlags(command, flags->model);
  command->add_option("--devices", flags->devices, "number of devices")->capture_default_str();
  command->add_option("--search", flags->search, "how to search: default or recursive")
      ->check(CLI::IsMember({"default", "recursive"}))
      ->capture_default_str();
  command->add_option("-o,--output", flags->output, "the plan file; default: beside the model's name");
  command->add_flag("--json", flags->json, "print the plan itself");
  OnRun(command, exit_code, [flags] { return Partition(*flags); });
}

}  // namespace yuba
