#include "tools/why/why_report.h"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "nlohmann/json.hpp"
#include "tools/report/plan_report.h"
#include "tools/report/text_table.h"

namespace yuba::tools {
namespace {

constexpr size_t kMostRows = 8;  // of differences that are printed

// What one node gathers of one tensor, or reduces into it.
struct Difference {
  NodeId node = -1;
  TensorId tensor = -1;
  search::MoveKind kind = search::MoveKind::kGather;
  int64_t bytes = 0;  // that the runner-up moves more, in all runs
};

// Where both plans move other bytes, the largest difference first.
std::vector<Difference> DifferencesOf(const Graph& graph, const search::Plan& plan,
                                      const search::Plan& next) {
  std::map<std::tuple<NodeId, TensorId, search::MoveKind>, int64_t> more;
  for (const bool is_next : {false, true}) {
    for (const search::Move& move : search::MovesOf(graph, is_next ? next : plan)) {
      const int64_t bytes = TimesOf(graph, move.node) * move.bytes;
      more[{move.node, move.tensor, move.kind}] += is_next ? bytes : -bytes;
    }
  }
  std::vector<Difference> differences;
  for (const auto& [key, bytes] : more) {
    if (bytes == 0) continue;
    differences.push_back({std::get<0>(key), std::get<1>(key), std::get<2>(key), bytes});
  }
  std::stable_sort(differences.begin(), differences.end(), [](const auto& a, const auto& b) {
    return std::abs(a.bytes) > std::abs(b.bytes);
  });
  return differences;
}

// How many others are cut otherwise too.
int64_t OthersOf(const search::Plan& plan, const search::Plan& next, int element) {
  int64_t others = 0;
  const auto tensors = static_cast<int>(plan.tensors.size());
  for (int e = 0; e < tensors + static_cast<int>(plan.nodes.size()); ++e) {
    const search::Choice &here = e < tensors ? plan.tensors[e] : plan.nodes[e - tensors],
                         &there = e < tensors ? next.tensors[e] : next.nodes[e - tensors];
    if (e != element && here != there) ++others;
  }
  return others;
}

bool IsTensor(const Graph& graph, int element) {
  return element < static_cast<int>(graph.tensors.size());
}

const std::string& NameOf(const Graph& graph, int element) {
  const auto tensors = static_cast<int>(graph.tensors.size());
  return element < tensors ? graph.tensors[element].name : graph.nodes[element - tensors].name;
}

std::string SignedDuration(int64_t nanoseconds) {
  return absl::StrCat(nanoseconds < 0 ? "−" : "+", Duration(std::abs(nanoseconds)));
}

// Where a cheaper plan is no surprise: what the search makes small was not what decided.
std::string WhosePlan(const search::Plan& plan, const search::Plan& next) {
  if (plan.search == "default" || next.value() >= plan.value()) return "";
  const bool time = plan.space.objective.IsTime();
  return absl::StrCat("the plan is that of ", plan.search,
                      time ? ", by each exchange and kernel alone not the fastest; where the "
                             "default search took it, its program has the shorter predicted step"
                           : ", not the one that moves least",
                      "\n");
}

std::string DifferenceText(const Graph& graph, const Difference& difference) {
  const bool gather = difference.kind == search::MoveKind::kGather;
  return absl::StrCat("  ", SignedBytes(difference.bytes),
                      gather ? ": gather of " : ": reduction of ",
                      graph.tensors[difference.tensor].name, gather ? " at " : " by ",
                      graph.nodes[difference.node].name, "\n");
}

}  // namespace

std::string CutText(const Graph& graph, const search::Plan& plan, int element) {
  const auto tensors = static_cast<int>(graph.tensors.size());
  if (element < tensors) {
    return ToString(plan.tensors[element], graph.tensors[element].dims, plan.mesh);
  }
  const Definition& definition = *graph.nodes[element - tensors].definition;
  std::vector<std::string> words;
  const search::Choice& cut = plan.nodes[element - tensors];
  for (size_t i = 0; i < cut.axes.size(); ++i) {
    if (cut.axes[i].empty()) continue;
    std::vector<std::string> axes;
    bool short_names = true;
    for (const uint8_t axis : cut.axes[i]) {
      axes.push_back(plan.mesh.axes[axis].name);
      short_names &= axes.back().size() == 1;
    }
    words.push_back(
        absl::StrCat(definition.indices[i].name, "/", absl::StrJoin(axes, short_names ? "" : ".")));
  }
  return words.empty() ? "whole" : absl::StrJoin(words, " ");
}

std::string WhyText(const Graph& graph, const search::Plan& plan, int element,
                    const search::RunnerUp& next) {
  const bool tensor = IsTensor(graph, element);
  std::string text =
      absl::StrCat(NameOf(graph, element), " is ", tensor ? "stored " : "cut ",
                   CutText(graph, plan, element), "; the next best ",
                   next.proved ? "is " : "found is ", CutText(graph, next.plan, element), ": ");
  const int64_t bytes = next.plan.cost.bytes() - plan.cost.bytes();
  if (bytes == 0) {
    absl::StrAppend(&text, "it moves as much, ", Bytes(plan.cost.bytes()), " a step");
  } else {
    absl::StrAppend(&text, SignedBytes(bytes), " a step (", Bytes(next.plan.cost.bytes()),
                    " in place of ", Bytes(plan.cost.bytes()), ")");
  }
  if (plan.space.objective.machine() != nullptr) {
    absl::StrAppend(&text, ", ", SignedDuration(next.plan.time.all() - plan.time.all()), " (",
                    Duration(next.plan.time.all()), ")");
  }
  absl::StrAppend(&text, "\n",
                  next.proved ? "proved: no plan of this space with another number of parts "
                                "of it is cheaper"
                              : "an upper bound: a local search from this plan found it, and "
                                "a cheaper one may exist");
  if (plan.space.memory > 0) {
    absl::StrAppend(&text, "\nthe plan's limit of ", Bytes(plan.space.memory),
                    " a device was not looked at: what is next may not fit");
  }
  absl::StrAppend(&text, "\n", WhosePlan(plan, next.plan));
  const std::vector<Difference> differences = DifferencesOf(graph, plan, next.plan);
  absl::StrAppend(
      &text, OthersOf(plan, next.plan, element),
      " other tensors and nodes are cut otherwise with it; what moves more, and less:\n");
  for (size_t d = 0; d < std::min(kMostRows, differences.size()); ++d) {
    absl::StrAppend(&text, DifferenceText(graph, differences[d]));
  }
  if (differences.empty()) absl::StrAppend(&text, "  nothing: all else moves as it does\n");
  if (differences.size() > kMostRows) {
    absl::StrAppend(
        &text, "  and ",
        Counted(static_cast<int64_t>(differences.size() - kMostRows), "smaller difference"), "\n");
  }
  return text;
}

nlohmann::ordered_json WhyJson(const Graph& graph, const search::Plan& plan, int element,
                               const search::RunnerUp& next) {
  nlohmann::ordered_json differences = nlohmann::ordered_json::array();
  for (const Difference& difference : DifferencesOf(graph, plan, next.plan)) {
    const bool gather = difference.kind == search::MoveKind::kGather;
    differences.push_back({{"node", graph.nodes[difference.node].name},
                           {"tensor", graph.tensors[difference.tensor].name},
                           {"kind", gather ? "gather" : "reduce"},
                           {"more_bytes", difference.bytes}});
  }
  nlohmann::ordered_json json = {
      {IsTensor(graph, element) ? "tensor" : "node", NameOf(graph, element)},
      {"is", CutText(graph, plan, element)},
      {"next", CutText(graph, next.plan, element)},
      {"proved", next.proved},
      {"more_bytes", next.plan.cost.bytes() - plan.cost.bytes()}};
  if (plan.space.objective.machine() != nullptr) {
    json["more_nanoseconds"] = next.plan.time.all() - plan.time.all();
  }
  json["others"] = OthersOf(plan, next.plan, element);
  json["differences"] = differences;
  return json;
}

}  // namespace yuba::tools
