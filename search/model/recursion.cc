#include "search/model/recursion.h"

#include <algorithm>

#include "search/solve/solve.h"

namespace yuba::search {
Groups GroupsOf(const Mesh& mesh, int size) {
  Groups groups;
  for (int axis = 0; axis < static_cast<int>(mesh.axes.size()); ++axis) {
    if (groups.empty() || static_cast<int>(groups.back().size()) == size) groups.push_back({});
    groups.back().push_back(axis);
  }
  if (groups.empty()) groups.push_back({});  // one device: nothing to place
  return groups;
}

Groups WidestGroups(const Graph& graph, const Mesh& mesh, int64_t cells) {
  int size = std::max(1, static_cast<int>(mesh.axes.size()));
  while (size > 1 && TableCells(graph, size) > cells) --size;
  return GroupsOf(mesh, size);
}

Candidate SearchGroups(const Graph& graph, const ProblemOptions& base, const Groups& groups,
                       int64_t table_cells) {
  Candidate found;
  found.choices = base.given;
  // Pins may want axes of later groups outside those of earlier ones.
  const bool anywhere = base.nesting == Nesting::kFree && !NestByLevel(base.restrictions);
  for (const std::vector<int>& group : groups) {
    ProblemOptions level = base;
    if (anywhere) level.nesting = Nesting::kAnywhere;
    level.axes = group;
    level.given = found.choices;
    Problem problem = BuildProblem(graph, level);
    const PairwiseProblem& pairwise = problem.pairwise;
    Assignment first(pairwise.variables.size(), 0);
    if (!problem.complete) {
      found.choices = problem.ChoicesOf(first);
      continue;
    }
    auto exact = SolveExactly(pairwise, table_cells, *base.budget);
    Solution solution =
        exact.has_value() ? exact->solution : SolveLocally(pairwise, {first}, {}, *base.budget);
    found.choices = problem.ChoicesOf(solution.assignment);
    if (!exact.has_value() || groups.size() > 1 || !base.group.IsWhole(base.mesh)) continue;
    found.proof.kind = ProofKind::kElimination;
    found.proof.order = problem.ElementOrder(exact->order);
    found.lower_bound = solution.cost;
  }
  return found;
}

std::vector<int64_t> BytesByLevel(const Graph& graph, const Plan& plan) {
  std::vector<int64_t> levels;
  std::vector<int> axes;
  int64_t before = 0;
  for (size_t axis = 0; axis < plan.mesh.axes.size(); ++axis) {
    axes.push_back(static_cast<int>(axis));
    Plan outer;
    outer.mesh.axes.assign(plan.mesh.axes.begin(), plan.mesh.axes.begin() + axis + 1);
    for (const Choice& choice : plan.tensors) outer.tensors.push_back(Restrict(choice, axes));
    for (const Choice& choice : plan.nodes) outer.nodes.push_back(Restrict(choice, axes));
    const int64_t bytes = CostOf(graph, outer).bytes();
    levels.push_back(bytes - before);
    before = bytes;
  }
  return levels;
}

}  // namespace yuba::search
