// yuba why: what it would cost to store a tensor, or cut a node, otherwise than the plan does.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "nlohmann/json.hpp"
#include "opsemantics/base/status.h"
#include "search/search.h"
#include "tools/command.h"
#include "tools/command_line.h"
#include "tools/report/json_report.h"
#include "tools/report/nearest.h"
#include "tools/subcommands.h"
#include "tools/why/why_report.h"

namespace yuba::tools {
namespace {

struct WhyFlags {
  ModelFlags model;
  std::string plan, tensor, node;
  double time_limit = 60;  // seconds
  bool json = false;
};

// The number of what has this name; an error that names one which it may have meant.
template <typename Elements>
absl::StatusOr<int> NumberOf(const Elements& elements, const char* flag, const std::string& name) {
  std::vector<std::string> names;
  for (size_t e = 0; e < elements.size(); ++e) {
    if (elements[e].name == name) return static_cast<int>(e);
    names.push_back(elements[e].name);
  }
  const std::string nearest = NearestOf(name, names);
  return UserError(flag, " ", name, ": the plan has none of that name",
                   nearest.empty() ? "; yuba show PLAN --all lists them"
                                   : absl::StrCat("; did you mean ", nearest, "?"));
}

absl::StatusOr<int> ElementOf(const WhyFlags& flags, const Graph& graph) {
  if (flags.tensor.empty() == flags.node.empty()) {
    return UserError("yuba why is asked of one tensor or node: give --tensor NAME or --node NAME");
  }
  if (!flags.tensor.empty()) return NumberOf(graph.tensors, "--tensor", flags.tensor);
  YUBA_ASSIGN_OR_RETURN(const int node, NumberOf(graph.nodes, "--node", flags.node));
  return static_cast<int>(graph.tensors.size()) + node;
}

absl::Status Why(const WhyFlags& flags, nlohmann::ordered_json& report) {
  YUBA_ASSIGN_OR_RETURN(const PlannedModel planned, LoadPlanned(flags.model, flags.plan));
  const Graph& graph = planned.loaded.model.graph;
  YUBA_ASSIGN_OR_RETURN(const int element, ElementOf(flags, graph));
  const absl::StatusOr<search::RunnerUp> next =
      search::FindRunnerUp(graph, planned.plan, element, flags.time_limit);
  const std::string now = CutText(graph, planned.plan, element);
  if (absl::IsNotFound(next.status())) {
    return UserError(flags.tensor.empty() ? flags.node : flags.tensor, " is ", now, ": ",
                     next.status().message());
  }
  YUBA_RETURN_IF_ERROR(next.status());
  if (flags.json) {
    report = WhyJson(graph, planned.plan, element, *next);
  } else {
    std::cout << WhyText(graph, planned.plan, element, *next);
  }
  return absl::OkStatus();
}

}  // namespace

void AddWhy(CLI::App& app, int& exit_code) {
  auto flags = std::make_shared<WhyFlags>();
  CLI::App* command = AddCommand(
      app, "why", "what it costs to store a tensor, or cut a node, otherwise than the plan does");
  AddPlannedModelFlags(command, flags->model);
  AddPlanFile(command, flags->plan);
  CLI::Option* tensor =
      command->add_option("--tensor", flags->tensor, "a tensor, by the name that the plan has");
  command->add_option("--node", flags->node, "a node")->excludes(tensor);
  command
      ->add_option("--time-limit", flags->time_limit,
                   "seconds; then the best found by then is told")
      ->transform(NumberAbove0())
      ->capture_default_str();
  AddJson(command, flags->json);
  OnRun(command, exit_code, [flags] {
    nlohmann::ordered_json report;
    return Reported(flags->json, Why(*flags, report), report);
  });
}

}  // namespace yuba::tools
