#include "search/portfolio/shortest_step.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_format.h"
#include "opsemantics/base/status.h"
#include "search/baselines/baselines.h"
#include "search/engines/engine.h"
#include "search/portfolio/alternatives.h"
#include "search/rewrite/copies.h"
#include "search/rewrite/partials.h"

namespace yuba::search {
namespace {

// Plans of others for one graph, in the space of the search's plan.
class Others {
 public:
  // All arguments must outlive this.
  Others(const PlannedGraph& found, const SearchOptions& options, const Budget& budget)
      : found_(found),
        options_(options),
        budget_(budget),
        partials_(HasPartials(found.graph)),
        whole_(partials_ ? WithoutPartials(found.graph) : Graph()) {}

  // By the objective, with copies or without.
  Plan OfBaseline(const Baseline& baseline) const {
    const BaselineOptions asked = {options_.mesh, options_.objective, options_.table_cells};
    return PlanWith(baseline.name, FindCheapest(baseline, whole(), asked, budget_));
  }

  // Of fewest bytes, without copies.
  Plan AsPublished(const Baseline& baseline) const {
    const BaselineOptions asked = {options_.mesh, Objective(), options_.table_cells};
    if (!whole().copies)
      return PlanWith(baseline.name, ChoicesOf(baseline, whole(), asked, budget_));
    const Uncopied bare = WithoutCopies(whole());
    return PlanWith(
        baseline.name,
        ChoicesWithCopies(whole(), bare, ChoicesOf(baseline, bare.graph, asked, budget_)));
  }

  // Level by level, as Tofu; an error where the time is too short.
  absl::StatusOr<Plan> Recursive() const {
    SearchOptions options = NamedWithin("scheduled", InTimeLeft(options_, budget_));
    options.search = "recursive";
    options.replicate = Replicate::kNone;
    options.memory_limit = 0;
    options.known_value = 0;
    YUBA_ASSIGN_OR_RETURN(const Plan plan, Search(whole(), options));
    return PlanWith(options.search, AllChoices(plan));
  }

 private:
  const Graph& whole() const { return partials_ ? whole_ : found_.graph; }

  // Its cost is not known yet.
  Plan PlanWith(const std::string& search, Choices choices) const {
    if (partials_) choices = WithGroups(found_.graph, options_.mesh, std::move(choices));
    Plan plan = found_.plan;
    const auto nodes = choices.begin() + static_cast<int64_t>(found_.graph.tensors.size());
    plan.tensors.assign(choices.begin(), nodes);
    plan.nodes.assign(nodes, choices.end());
    plan.search = search;
    return plan;
  }

  const PlannedGraph& found_;
  const SearchOptions& options_;
  const Budget& budget_;
  const bool partials_;
  const Graph whole_;
};

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
  std::vector<Plan> offered;  // greedy ones are the same by any objective
  const auto offer = [&](Plan plan) {
    const bool known = std::any_of(offered.begin(), offered.end(), [&](const Plan& other) {
      return other.tensors == plan.tensors && other.nodes == plan.nodes;
    });
    if (known || budget.ShouldStop()) return;
    offered.push_back(plan);
    if (!Fits(graph, plan, options)) return;
    const absl::StatusOr<int64_t> step = options.step_of(graph, plan);
    if (!step.ok() || *step >= shortest) return;
    shortest = *step;
    best = std::move(plan);
  };
  const Others others(found, options, budget);
  std::vector<const Baseline*> scheduled;
  for (const Baseline& baseline : Baselines()) {
    if (budget.ShouldStop()) break;
    const auto is_same = [&](const Baseline* other) { return HaveSamePlans(*other, baseline); };
    if (!IsInSpace(baseline, options) || std::any_of(scheduled.begin(), scheduled.end(), is_same)) {
      continue;
    }
    scheduled.push_back(&baseline);
    // Copies save bytes and take memory, and many short exchanges cost a schedule more than by
    // themselves: either may be the shorter step.
    offer(others.OfBaseline(baseline));
    if (!budget.ShouldStop()) offer(others.AsPublished(baseline));
  }
  absl::StatusOr<Plan> recursive = others.Recursive();
  if (recursive.ok()) offer(*std::move(recursive));
  if (shortest == *of_search) return;
  Price(graph, best);
  found.remarks.push_back(Remark(best.search, shortest, *of_search));
  found.plan = std::move(best);
}

}  // namespace yuba::search
