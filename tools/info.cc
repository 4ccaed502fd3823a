// yuba info: can the model be planned, and what is in it?
#include <CLI/CLI.hpp>
#include <algorithm>
#include <iostream>
#include <map>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "nlohmann/json.hpp"
#include "opsemantics/base/files.h"
#include "opsemantics/base/status.h"
#include "opsemantics/regions/structure.h"
#include "search/plan/weights.h"
#include "tools/command.h"
#include "tools/report/search_report.h"
#include "tools/report/text_table.h"
#include "tools/subcommands.h"

namespace yuba::tools {
namespace {

struct InfoFlags {
  ModelFlags model;
  bool tensors = false, json = false;
};

struct ModelFacts {
  int64_t parameters = 0, parameter_bytes = 0, activation_bytes = 0;
  std::map<std::string, int> operators;
};

ModelFacts FactsOf(const Graph& graph) {
  ModelFacts facts;
  for (size_t t = 0; t < graph.tensors.size(); ++t) {
    const Tensor& tensor = graph.tensors[t];
    const int64_t elements = ElementCount(tensor.type);
    const int64_t bytes = elements * ByteSize(tensor.type.type);
    if (search::IsStoredWeight(graph, static_cast<TensorId>(t))) {
      facts.parameters = SaturatingSum(facts.parameters, elements);
      facts.parameter_bytes = SaturatingSum(facts.parameter_bytes, bytes);
    } else if (tensor.kind != TensorKind::kConstant) {
      facts.activation_bytes = SaturatingSum(facts.activation_bytes, bytes);
    }
  }
  for (const Node& node : graph.nodes) ++facts.operators[node.op];
  return facts;
}

// Inputs are those of a step.
std::string PortsText(const Graph& graph, const std::vector<TensorId>& ids) {
  return absl::StrJoin(ids, ", ", [&](std::string* out, TensorId id) {
    const Tensor& tensor = graph.tensors[id];
    absl::StrAppend(out, tensor.output ? OutputName(tensor) : tensor.name, ": ",
                    Name(tensor.type.type), "[", absl::StrJoin(DimsInStep(graph, tensor), ", "),
                    "]");
  });
}

// "of one of the 4 parts of a step": what the graph's tensors are of; empty where a step is one
// part.
std::string OfPartText(const Graph& graph) {
  const int64_t parts = PartsOf(graph);
  return parts == 1 ? "" : absl::StrCat("of one of the ", parts, " parts of a step");
}

// A line of the states and their next values; empty where there are none.
std::string StatesText(const Graph& graph) {
  std::vector<std::string> states;
  for (const Tensor& tensor : graph.tensors) {
    if (IsCarried(tensor) && tensor.output)
      states.push_back(absl::StrCat(tensor.name, " <- ", tensor.next_name));
  }
  if (states.empty()) return "";
  return absl::StrCat("states      ", absl::StrJoin(states, ", "), "\n");
}

// What a tensor is to the user: one may be several things, as a parameter that is trained.
std::string RoleOf(const Tensor& tensor) {
  if (tensor.output && tensor.kind == TensorKind::kActivation) return "output";
  std::string role = tensor.kind == TensorKind::kParameter ? "parameter" : Name(tensor.kind);
  if (IsCarried(tensor) && tensor.kind != TensorKind::kState) role += ", state";
  return tensor.output ? role + ", output" : role;
}

// "[batch, -]": the names of the dimensions, as pins take them; "" where none has a name.
std::string DimNamesText(const Tensor& tensor) {
  const auto is_named = [](const std::string& name) { return !name.empty(); };
  if (std::none_of(tensor.dim_names.begin(), tensor.dim_names.end(), is_named)) return "";
  return absl::StrCat("[",
                      absl::StrJoin(tensor.dim_names, ", ",
                                    [](std::string* out, const std::string& name) {
                                      absl::StrAppend(out, name.empty() ? "-" : name);
                                    }),
                      "]");
}

// A row for each tensor, in the order of the model: what pins and `yuba show --tensor` can name.
std::string TensorsText(const Graph& graph) {
  TextTable table(99);
  table.Add({"tensor", "type", "shape", "role", "dimensions"});
  for (const Tensor& tensor : graph.tensors) {
    table.Add({tensor.name, Name(tensor.type.type),
               absl::StrCat("[", absl::StrJoin(WholeDims(tensor), ", "), "]"), RoleOf(tensor),
               DimNamesText(tensor)});
  }
  return table.ToString();
}

nlohmann::ordered_json TensorsJson(const Graph& graph) {
  nlohmann::ordered_json rows = nlohmann::ordered_json::array();
  for (const Tensor& tensor : graph.tensors) {
    rows.push_back({{"name", tensor.name},
                    {"type", Name(tensor.type.type)},
                    {"shape", WholeDims(tensor)},
                    {"role", RoleOf(tensor)},
                    {"dim_names", tensor.dim_names}});
  }
  return rows;
}

std::string Json(const compiler::Model& model, const ModelFacts& facts, bool tensors) {
  nlohmann::ordered_json json;
  json["file"] = BaseName(model.file);
  json["opset"] = model.opset;
  json["nodes"] = model.file_nodes;
  json["definitions"] = model.graph.nodes.size();
  for (TensorId id : model.graph.inputs) {
    json["inputs"][model.graph.tensors[id].name] = DimsInStep(model.graph, model.graph.tensors[id]);
  }
  for (TensorId id : model.graph.outputs) {
    json["outputs"][OutputName(model.graph.tensors[id])] = WholeDims(model.graph.tensors[id]);
  }
  for (const Tensor& tensor : model.graph.tensors) {
    if (IsCarried(tensor) && tensor.output) json["states"][tensor.name] = tensor.next_name;
  }
  json["parts"] = PartsOf(model.graph);  // activations and tensors are of one
  json["parameters"] = facts.parameters;
  json["parameter_bytes"] = facts.parameter_bytes;
  json["activation_bytes"] = facts.activation_bytes;
  json["flops"] = model.flops;
  json["operators"] = facts.operators;
  json["notes"] = model.notes;
  if (tensors) json["tensors"] = TensorsJson(model.graph);
  return json.dump(1) + "\n";
}

absl::Status Info(const InfoFlags& flags) {
  YUBA_ASSIGN_OR_RETURN(LoadedModel loaded, LoadModel(flags.model));
  const compiler::Model& model = loaded.model;
  const ModelFacts facts = FactsOf(model.graph);
  if (flags.json) {
    std::cout << Json(model, facts, flags.tensors);
    return absl::OkStatus();
  }
  const std::string of_part = OfPartText(model.graph);
  std::cout << BaseName(model.file) << "  opset " << model.opset << ", "
            << Counted(model.file_nodes, "node") << ", "
            << Counted(model.graph.nodes.size(), "definition") << " to plan: it can be planned\n"
            << "inputs      " << PortsText(model.graph, model.graph.inputs) << "\n"
            << "outputs     " << PortsText(model.graph, model.graph.outputs) << "\n"
            << StatesText(model.graph) << "parameters  "
            << CountedShortly(facts.parameters, "element") << ", " << Bytes(facts.parameter_bytes)
            << "\n"
            << "activations " << Bytes(facts.activation_bytes) << " all together"
            << (of_part.empty() ? "" : ", " + of_part) << "\n"
            << "work        " << WorkText(model) << "\n";
  for (const std::string& note : model.notes) std::cout << "note        " << note << "\n";
  std::vector<std::pair<std::string, int>> rows(facts.operators.begin(), facts.operators.end());
  std::stable_sort(rows.begin(), rows.end(), [](auto& a, auto& b) { return a.second > b.second; });
  TextTable table(1);
  table.Add({"operator", "definitions"});
  for (const auto& [op, count] : rows) table.Add({op, absl::StrCat(count)});
  std::cout << table.ToString();
  if (!flags.tensors) return absl::OkStatus();
  std::cout << "\n" << (of_part.empty() ? "" : of_part + ":\n") << TensorsText(model.graph);
  return absl::OkStatus();
}

}  // namespace

void AddInfo(CLI::App& app, int& exit_code) {
  auto flags = std::make_shared<InfoFlags>();
  CLI::App* command = AddCommand(app, "info", "can a model be planned, and what is in it?");
  AddModelFlags(command, flags->model);
  command->add_flag("--tensors", flags->tensors,
                    "every tensor: what pins and `yuba show --tensor` can name");
  AddJson(command, flags->json);
  OnRun(command, exit_code, [flags] { return Info(*flags); });
}

}  // namespace yuba::tools
