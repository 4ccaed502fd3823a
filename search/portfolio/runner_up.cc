// The runner-up of a plan: `FindRunnerUp` of search/search.h.
#include <algorithm>
#include <utility>
#include <vector>

#include "absl/types/optional.h"
#include "opsemantics/base/status.h"
#include "search/axes/assign_axes.h"
#include "search/engines/incumbent.h"
#include "search/engines/task.h"
#include "search/search.h"
#include "search/solve/solve.h"
#include "search/space/grid_space.h"

namespace yuba::search {
namespace {

// On grids so many are searched, those that are cheapest where nothing else changes.
constexpr size_t kMostGrids = 3;

SearchOptions OptionsOf(const Plan& plan, double time_limit) {
  SearchOptions options;
  options.mesh = plan.mesh;
  options.objective = plan.space.objective;
  options.nesting = plan.space.nesting;
  options.copies = plan.space.copies;
  options.replicate = plan.space.replicate;
  options.time_limit = time_limit;
  return options;
}

Restrictions RestrictionsOf(const Graph& graph, const Plan& plan) {
  if (plan.space.pins.empty()) return {};
  Restrictions restrictions(graph.tensors.size() + graph.nodes.size());
  for (const PinnedElement& pin : plan.space.pins) {
    restrictions[pin.element] = {{pin.demands}, Rest::kRefused};
  }
  return restrictions;
}

Plan PlanWith(const Graph& graph, const Plan& like, const Choices& choices) {
  Plan plan;
  plan.mesh = like.mesh;
  plan.space = like.space;
  plan.search = like.search;
  const auto middle = choices.begin() + static_cast<int64_t>(graph.tensors.size());
  plan.tensors.assign(choices.begin(), middle);
  plan.nodes.assign(middle, choices.end());
  Price(graph, plan);
  return plan;
}

absl::Status NoOther() {
  return absl::NotFoundError("it cannot be cut otherwise: no other number of parts is legal");
}

// On tables of all choices: values of the element's variable that have the plan's grid are
// forbidden. Exact where the order of elimination is short, else from the plan on.
absl::StatusOr<RunnerUp> OnTables(Task& task, const Plan& plan, int element) {
  const Problem& problem = task.problem();
  if (!problem.complete)
    return absl::DeadlineExceededError("no time for the tables of all choices");
  const int variable = problem.variable[element];
  const Grid grid = GridOf(AllChoices(plan)[element], plan.mesh);
  auto cells = std::make_shared<std::vector<int64_t>>();
  std::vector<Grid> others;  // of those that are left
  std::vector<Assignment> starts;
  for (const Choice& choice : *problem.choices[element]) {
    Grid of_choice = GridOf(choice, plan.mesh);
    cells->push_back(of_choice == grid ? kForbidden : 0);
    if (of_choice == grid) continue;
    if (std::find(others.begin(), others.end(), of_choice) != others.end()) continue;
    others.push_back(std::move(of_choice));
    starts.push_back(problem.ValuesOf(AllChoices(plan)));
    starts.back()[variable] = static_cast<int>(cells->size()) - 1;
  }
  if (starts.empty()) return NoOther();
  PairwiseProblem pairwise = problem.pairwise;
  // The new cost holds for these names of axes alone, so no symmetry is left.
  for (DomainPtr& domain : pairwise.variables) domain = PlainDomain(domain->size);
  pairwise.factors.push_back({{variable}, cells});
  RunnerUp found;
  absl::optional<Solution> best;
  if (task.order().has_value() && task.order()->sums <= kSoonSums) {
    best = Eliminate(pairwise, task.order()->variables, task.budget());
    found.proved = best.has_value();
  }
  if (!best.has_value()) best = SolveLocally(pairwise, starts, {}, task.budget());
  if (best->cost >= kForbidden) return NoOther();
  found.plan = PlanWith(task.graph(), plan, problem.ChoicesOf(best->assignment));
  return found;
}

// A choice of this grid that keeps as many axes of `like` where they are as it can.
Choice ChoiceOfGrid(const Grid& grid, const Mesh& mesh, const Choice& like) {
  Choice choice;
  choice.axes.resize(like.axes.size());
  Grid missing = grid;  // parts that are still to be made
  std::vector<bool> used(mesh.axes.size(), false);
  const auto take = [&](uint8_t axis, size_t extent) {
    int& parts = missing[mesh.axes[axis].kind][extent];
    if (used[axis] || parts % mesh.axes[axis].size != 0) return;
    parts /= mesh.axes[axis].size;
    used[axis] = true;
    choice.axes[extent].push_back(axis);
  };
  for (size_t e = 0; e < like.axes.size(); ++e) {
    for (const uint8_t axis : like.axes[e]) take(axis, e);
  }
  for (size_t axis = 0; axis < mesh.axes.size(); ++axis) {
    for (size_t e = 0; e < like.axes.size(); ++e) take(static_cast<uint8_t>(axis), e);
  }
  for (AxisList& axes : choice.axes) std::sort(axes.begin(), axes.end());
  return choice;
}

// The elements that have the choice of this one: a copy and the node that makes it.
std::vector<int> WithPartner(const Graph& graph, int element) {
  const int tensors = static_cast<int>(graph.tensors.size());
  const NodeId node = element >= tensors ? element - tensors : graph.tensors[element].producer;
  if (node < 0 || !IsCopy(graph, graph.nodes[node])) return {element};
  return {graph.nodes[node].result, tensors + node};
}

// On meshes too large for tables: mesh axes are placed anew, from the plan with another choice of
// the element on, which is held.
absl::StatusOr<RunnerUp> OnGrids(Task& task, const Plan& plan, int element) {
  const Graph& graph = task.graph();
  const Choices now = AllChoices(plan);
  const ChoiceSpace space = SpaceOf(graph, element);
  const Grid grid = GridOf(now[element], plan.mesh);
  std::vector<std::pair<int64_t, Choices>> starts;  // what each costs where nothing else changes
  for (const Grid& other : AllGrids(space, plan.mesh)) {
    if (other == grid) continue;
    Choices start = now;
    const Choice choice = ChoiceOfGrid(other, plan.mesh, now[element]);
    for (const int partner : WithPartner(graph, element)) start[partner] = choice;
    const int64_t value = PlanWith(graph, plan, start).value();
    starts.emplace_back(value, std::move(start));
  }
  if (starts.empty()) return NoOther();
  std::stable_sort(starts.begin(), starts.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  starts.resize(std::min(starts.size(), kMostGrids));
  absl::optional<RunnerUp> best;
  for (const auto& [value, start] : starts) {
    if (best.has_value() && task.budget().ShouldStop()) break;
    Restrictions held = task.restrictions();
    held.resize(now.size());
    std::vector<std::vector<Grid>> grids;
    for (const Choice& choice : start) grids.push_back({GridOf(choice, plan.mesh)});
    for (const int partner : WithPartner(graph, element)) {
      Demands exact;
      for (const AxisList& axes : start[partner].axes) exact.push_back({axes, false});
      held[partner] = {{exact}, Rest::kRefused};
    }
    AxisOptions options;
    options.mesh = plan.mesh;
    options.nesting = plan.space.nesting;
    options.budget = &task.budget();
    options.starts = {start};
    RunnerUp found;
    found.plan = PlanWith(graph, plan, AssignAxes(graph, options, task.uses(), grids, held));
    if (!best.has_value() || found.plan.value() < best->plan.value()) best = std::move(found);
  }
  return *best;
}

}  // namespace

absl::StatusOr<RunnerUp> FindRunnerUp(const Graph& graph, const Plan& plan, int element,
                                      double time_limit) {
  const SearchOptions options = OptionsOf(plan, time_limit);
  const Restrictions restrictions = RestrictionsOf(graph, plan);
  const Budget budget(options.time_limit, options.threads, options.asked);
  Task task(graph, options, restrictions, budget);
  if (task.on_tables()) return OnTables(task, plan, element);
  if (options.replicate == Replicate::kAuto) {
    return UserError("the plan replicates tensors on ", plan.mesh.devices(),
                     " devices, where tables of all its choices are too large; plan it without "
                     "--replicate, or on fewer devices");
  }
  return OnGrids(task, plan, element);
}

}  // namespace yuba::search
