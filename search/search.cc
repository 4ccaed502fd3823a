#include "search/search.h"

#include <algorithm>
#include <utility>

#include "opsemantics/base/check.h"
#include "opsemantics/base/status.h"
#include "search/problem.h"
#include "search/solve.h"

namespace yuba {
namespace {

// A cost table of more cells is not made: fewer axes are placed at a time.
constexpr int64_t kLargestTable = int64_t{1} << 24;

struct Found {
  Cuts cuts;
  bool exact = false;
  std::vector<int> order;  // of elements, where exact
};

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
  while (size > 1 && LargestTable(graph, size) > kLargestTable) --size;
  return GroupsOf(mesh, size);
}

// The values that give the elements these cuts; empty where some cut is in no domain.
Assignment AssignmentOf(const Problem& problem, const Cuts& cuts) {
  Assignment assignment;
  for (int element : problem.elements) {
    const std::vector<Cut>& domain = *problem.cuts[element];
    auto place = std::find(domain.begin(), domain.end(), cuts[element]);
    if (place == domain.end()) return {};
    assignment.push_back(static_cast<int>(place - domain.begin()));
  }
  return assignment;
}

Found SearchGroups(const Graph& graph, const SearchOptions& options, const Groups& groups,
                   const Cuts& start) {
  Found found;
  for (const std::vector<int>& group : groups) {
    ProblemOptions level;
    level.mesh = options.mesh;
    level.nesting = options.nesting;
    level.axes = group;
    level.given = found.cuts;
    level.pins = options.pins;
    Problem problem = BuildProblem(graph, level);
    Assignment from = start.empty() ? Assignment() : AssignmentOf(problem, start);
    Outcome outcome = Solve(problem.pairwise, options.table_cells, from);
    found.cuts = problem.CutsOf(outcome.solution.assignment);
    found.exact = outcome.exact && groups.size() == 1;
    if (found.exact) found.order = problem.ElementOrder(outcome.order);
  }
  return found;
}

Plan PlanOf(const Graph& graph, const SearchOptions& options, Found found) {
  Plan plan;
  plan.mesh = options.mesh;
  bool by_level = options.nesting == Nesting::kLevel || options.search == "recursive";
  plan.space.nesting = by_level ? "level" : "free";
  plan.search = options.search;
  auto middle = found.cuts.begin() + graph.tensors.size();
  plan.tensors.assign(found.cuts.begin(), middle);
  plan.nodes.assign(middle, found.cuts.end());
  plan.cost = CostOf(graph, plan);
  plan.proof.kind = found.exact ? "elimination" : "none";
  plan.proof.order = std::move(found.order);
  plan.lower_bound = found.exact ? plan.cost.bytes() : 0;
  return plan;
}

}  // namespace

absl::StatusOr<Plan> Search(const Graph& graph, const SearchOptions& options) {
  if (options.search != "default" && options.search != "recursive") {
    return UserError("there is no search named \"", options.search,
                     "\"; use \"default\" or \"recursive\"");
  }
  YUBA_RETURN_IF_ERROR(CheckPins(graph, options.mesh, options.pins));
  Groups widest = WidestGroups(graph, options.mesh);
  Groups levels = GroupsOf(options.mesh, 1);
  if (options.search == "recursive") {
    Found found = SearchGroups(graph, options, levels, {});
    found.exact = found.exact && options.mesh.axes.size() <= 1;
    return PlanOf(graph, options, std::move(found));
  }
  Found found = SearchGroups(graph, options, widest, {});
  Plan plan = PlanOf(graph, options, std::move(found));
  if (plan.proof.kind != "none") return plan;
  // Not proven: the recursion may do better, and what it finds may be improved.
  Found by_level = SearchGroups(graph, options, levels, {});
  if (widest.size() == 1) by_level = SearchGroups(graph, options, widest, by_level.cuts);
  Plan other = PlanOf(graph, options, std::move(by_level));
  return other.cost.bytes() < plan.cost.bytes() ? other : plan;
}

}  // namespace yuba
