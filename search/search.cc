#include "search/search.h"

#include <algorithm>
#include <map>
#include <memory>
#include <numeric>
#include <utility>

#include "opsemantics/base/check.h"
#include "opsemantics/base/status.h"
#include "search/deepen.h"
#include "search/grid_search.h"
#include "search/grids.h"
#include "search/problem.h"
#include "search/solve.h"
#include "search/ties.h"

namespace yuba {
namespace {

// Where the cost tables of all axes have more cells, grids are searched first; with pins, fewer
// axes are placed at a time.
constexpr int64_t kMostCells = int64_t{1} << 22;

// Of the problem with repeated steps tied, which is only a start.
constexpr int64_t kTiedCells = int64_t{1} << 22;

// Groups of axes that are placed together, one group after the other, later ones inside.
using Groups = std::vector<std::vector<int>>;

Groups GroupsOf(const Mesh& mesh, int size) {
  Groups groups;
  for (int axis = 0; axis < static_cast<int>(mesh.axes.size()); ++axis) {
    if (groups.empty() || static_cast<int>(groups.back().size()) == size) groups.push_back({});
    groups.back().push_back(axis);
  }
  if (groups.empty()) groups.push_back({});  // one device: nothing to place
  return groups;
}

// As many axes at a time as the tables allow.
Groups WidestGroups(const Graph& graph, const Mesh& mesh) {
  int size = std::max(1, static_cast<int>(mesh.axes.size()));
  while (size > 1 && TableCells(graph, size) > kMostCells) --size;
  return GroupsOf(mesh, size);
}

// The values that give the elements these cuts; the first where a cut is in no domain.
Assignment AssignmentOf(const Problem& problem, const Cuts& cuts) {
  Assignment assignment;
  for (int element : problem.elements) {
    const std::vector<Cut>& domain = *problem.cuts[element];
    auto place = std::find(domain.begin(), domain.end(), cuts[element]);
    assignment.push_back(place == domain.end() ? 0 : static_cast<int>(place - domain.begin()));
  }
  return assignment;
}

ProblemOptions OptionsOf(const SearchOptions& options, const std::vector<int>& axes) {
  ProblemOptions result;
  result.mesh = options.mesh;
  result.nesting = options.nesting;
  result.axes = axes;
  result.pins = options.pins;
  return result;
}

struct Found {
  Cuts cuts;
  int64_t lower_bound = 0;
  Proof proof;
};

// The best plan that cuts repeated steps alike; nothing where nothing repeats or tables do not fit.
absl::optional<Assignment> SolveTied(const Graph& graph, const Problem& problem,
                                     int64_t table_cells) {
  std::vector<int> numbers = RepeatedVariables(graph, problem);
  PairwiseProblem tied = Tied(problem.pairwise, numbers);
  if (tied.variables.size() == numbers.size()) return absl::nullopt;
  auto exact = SolveExactly(tied, std::min(table_cells, kTiedCells));
  if (!exact.has_value()) return absl::nullopt;
  Assignment assignment;
  for (int number : numbers) assignment.push_back(exact->solution.assignment[number]);
  return assignment;
}

// Local search from several starts, and from tied steps.
Solution SolveApproximately(const Graph& graph, const Problem& problem,
                            std::vector<Assignment> starts, int64_t table_cells) {
  if (auto tied = SolveTied(graph, problem, table_cells)) starts.push_back(*std::move(tied));
  return SolveLocally(problem.pairwise, starts, table_cells);
}

// One group after the other, each as well as can be, given those before.
Found SearchGroups(const Graph& graph, const SearchOptions& options, const Groups& groups) {
  Found found;
  found.proof.kind = "none";
  for (const std::vector<int>& group : groups) {
    ProblemOptions level = OptionsOf(options, group);
    level.given = found.cuts;
    Problem problem = BuildProblem(graph, level);
    const PairwiseProblem& pairwise = problem.pairwise;
    auto exact = SolveExactly(pairwise, options.table_cells);
    Assignment first(pairwise.variables.size(), 0);
    Solution solution = exact.has_value()
                            ? exact->solution
                            : SolveApproximately(graph, problem, {first}, options.table_cells);
    found.cuts = problem.CutsOf(solution.assignment);
    if (!exact.has_value() || groups.size() > 1) continue;
    found.proof.kind = "elimination";
    found.proof.order = problem.ElementOrder(exact->order);
    found.lower_bound = solution.cost;
  }
  return found;
}

// Exactly by grids, where the tables of all cuts do not fit but those of grids do.
absl::optional<Deepest> SolveDeepening(const Problem& problem, const Solution& start,
                                       const SearchOptions& options) {
  std::vector<ClassesPtr> classes;
  std::map<const void*, ClassesPtr> known;
  for (int element : problem.elements) {
    ClassesPtr& grids = known[problem.cuts[element].get()];
    if (grids == nullptr) {
      grids = std::make_shared<const Classes>(GridsOf(*problem.cuts[element], options.mesh));
    }
    classes.push_back(grids);
  }
  DeepenOptions deepen;
  deepen.fold_cells = std::min(deepen.fold_cells, options.table_cells);
  deepen.class_cells = std::min(deepen.class_cells, options.table_cells);
  return Deepen(problem.pairwise, classes, start, deepen);
}

// All axes at once.
Found SearchTogether(const Graph& graph, const SearchOptions& options) {
  std::vector<int> axes(options.mesh.axes.size());
  std::iota(axes.begin(), axes.end(), 0);
  ProblemOptions together = OptionsOf(options, axes);
  Problem problem = BuildProblem(graph, together);
  Found found;
  if (auto exact = SolveExactly(problem.pairwise, options.table_cells)) {
    found.cuts = problem.CutsOf(exact->solution.assignment);
    found.proof.kind = "elimination";
    found.proof.order = problem.ElementOrder(exact->order);
    found.lower_bound = exact->solution.cost;
    return found;
  }
  GridSolution on_grids = SearchOnGrids(graph, options);
  LowerBound& bound = on_grids.bound;
  // A few axes at a time: the recursion, and wider steps.
  std::vector<Assignment> starts = {AssignmentOf(problem, on_grids.cuts)};
  for (int size = 1; size < static_cast<int>(axes.size()); ++size) {
    Found found = SearchGroups(graph, options, GroupsOf(options.mesh, size));
    starts.push_back(AssignmentOf(problem, found.cuts));
  }
  Solution best = SolveApproximately(graph, problem, std::move(starts), options.table_cells);
  if (auto deepest = SolveDeepening(problem, best, options)) {
    best = deepest->solution;
    if (deepest->bound > bound.bytes) {
      found.cuts = problem.CutsOf(best.assignment);
      found.proof.kind = "deepening";
      found.proof.order = problem.ElementOrder(deepest->order);
      found.proof.plain = static_cast<int>(problem.clusters.merged.size()) + deepest->plain;
      found.lower_bound = deepest->bound;
      return found;
    }
  }
  found.cuts = problem.CutsOf(best.assignment);
  found.proof = std::move(bound.proof);
  found.lower_bound = bound.bytes;
  return found;
}

Plan PlanOf(const Graph& graph, const SearchOptions& options, Found found) {
  Plan plan;
  plan.mesh = options.mesh;
  bool by_level = options.nesting == Nesting::kLevel || options.search == "recursive";
  plan.space.nesting = by_level ? "level" : "free";
  plan.space.copies = graph.copies;
  plan.search = options.search;
  auto middle = found.cuts.begin() + graph.tensors.size();
  plan.tensors.assign(found.cuts.begin(), middle);
  plan.nodes.assign(middle, found.cuts.end());
  plan.cost = CostOf(graph, plan);
  plan.proof = std::move(found.proof);
  plan.lower_bound = found.lower_bound;
  return plan;
}

Plan SearchDefault(const Graph& graph, const SearchOptions& options) {
  Groups levels = GroupsOf(options.mesh, 1), widest = WidestGroups(graph, options.mesh);
  if (widest.size() == 1) return PlanOf(graph, options, SearchTogether(graph, options));
  if (options.pins.empty()) {
    GridSolution found = SearchOnGrids(graph, options);
    return PlanOf(graph, options,
                  {std::move(found.cuts), found.bound.bytes, std::move(found.bound.proof)});
  }
  Plan plan = PlanOf(graph, options, SearchGroups(graph, options, widest));
  Plan by_level = PlanOf(graph, options, SearchGroups(graph, options, levels));
  return by_level.cost.bytes() < plan.cost.bytes() ? by_level : plan;
}

}  // namespace

absl::StatusOr<Plan> Search(const Graph& graph, const SearchOptions& options) {
  if (options.search != "default" && options.search != "recursive") {
    return UserError("there is no search named \"", options.search,
                     "\"; use \"default\" or \"recursive\"");
  }
  YUBA_RETURN_IF_ERROR(CheckPins(graph, options.mesh, options.pins));
  if (options.search == "recursive") {
    Found found = SearchGroups(graph, options, GroupsOf(options.mesh, 1));
    if (!options.pins.empty()) found.proof = Proof{"none", {}, 0, {}}, found.lower_bound = 0;
    return PlanOf(graph, options, std::move(found));
  }
  Plan plan = SearchDefault(graph, options);
  if (options.pins.empty()) return plan;
  // The bound is of all plans, pinned or not: the gap is what the pins cost.
  SearchOptions free = options;
  free.pins.clear();
  Plan unpinned = SearchDefault(graph, free);
  plan.lower_bound = unpinned.lower_bound;
  plan.proof = std::move(unpinned.proof);
  return plan;
}

}  // namespace yuba
