#include "search/portfolio/shortest_step.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_format.h"
#include "search/baselines/baselines.h"
#include "search/rewrite/partials.h"

namespace yuba::search {
namespace {

constexpr char kScheduled[] = "scheduled";  // as EngineNames() has it

// The baseline's plan of this graph, in the space of `found`; its cost is not known yet.
Plan PlanOfBaseline(const Baseline& baseline, const Graph& graph, const Plan& found,
                    const SearchOptions& options, const Budget& budget) {
  const BaselineOptions asked = {options.mesh, options.objective, options.table_cells};
  Choices choices;
  if (HasPartials(graph)) {
    choices = FindCheapest(baseline, WithoutPartials(graph), asked, budget);
    choices = WithGroups(graph, options.mesh, std::move(choices));
  } else {
    choices = FindCheapest(baseline, graph, asked, budget);
  }
  Plan plan = found;
  const auto nodes = choices.begin() + static_cast<int64_t>(graph.tensors.size());
  plan.tensors.assign(choices.begin(), nodes);
  plan.nodes.assign(nodes, choices.end());
  plan.search = baseline.name;
  return plan;
}

// Axes of a product may nest in any order.
bool IsInSpace(const Baseline& baseline, const SearchOptions& options) {
  if (baseline.IsProduct() &&
      (options.nesting == Nesting::kLevel || IsPure(baseline, options.mesh))) {
    return false;
  }
  return !baseline.replicates || options.replicate == Replicate::kAuto;
}

bool Fits(const Graph& graph, const Plan& plan, const SearchOptions& options) {
  return options.memory_limit == 0 || !options.memory_of ||
         options.memory_of(graph, plan) <= options.memory_limit;
}

std::string Remark(const std::string& name, int64_t step, int64_t of_search) {
  return absl::StrFormat(
      "the plan of %s takes the shorter step by prediction, %.3f ms where the plan of least time "
      "takes %.3f ms: it is the answer",
      name, 1e-6 * static_cast<double>(step), 1e-6 * static_cast<double>(of_search));
}

}  // namespace

void TakeShortestStep(const SearchOptions& options, const Budget& budget, PlannedGraph& found) {
  const bool asked = options.step_of && options.objective.IsTime() && options.search == "default" &&
                     std::count(options.without.begin(), options.without.end(), kScheduled) == 0;
  if (!asked || !found.plan.space.pins.empty() || options.mesh.devices() == 1) return;
  const Graph& graph = found.graph;
  const absl::StatusOr<int64_t> of_search = options.step_of(graph, found.plan);
  if (!of_search.ok()) return;
  int64_t shortest = *of_search;
  Plan best;
  std::vector<const Baseline*> scheduled;
  for (const Baseline& baseline : Baselines()) {
    if (budget.ShouldStop()) break;
    const auto is_same = [&](const Baseline* other) { return HaveSamePlans(*other, baseline); };
    if (!IsInSpace(baseline, options) || std::any_of(scheduled.begin(), scheduled.end(), is_same)) {
      continue;
    }
    scheduled.push_back(&baseline);
    Plan plan = PlanOfBaseline(baseline, graph, found.plan, options, budget);
    if (budget.ShouldStop() || !Fits(graph, plan, options)) continue;
    const absl::StatusOr<int64_t> step = options.step_of(graph, plan);
    if (!step.ok() || *step >= shortest) continue;
    shortest = *step;
    best = std::move(plan);
  }
  if (shortest == *of_search) return;
  Price(graph, best);
  found.remarks.push_back(Remark(best.search, shortest, *of_search));
  found.plan = std::move(best);
}

}  // namespace yuba::search
