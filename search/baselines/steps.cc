#include "search/baselines/steps.h"

#include <algorithm>
#include <utility>

#include "search/model/recursion.h"

namespace yuba::search {
namespace {

// As many axes at a time as leave so many cells in the tables of all choices; tables of restricted
// choices, nested by level, are far smaller.
constexpr int64_t kMostCells = int64_t{1} << 26;

// The cost of `value` of the variable in this factor. A neighbour without a value (-1 in `chosen`)
// counts with the value that is best for it.
int64_t CostAt(const PairwiseProblem& problem, const Factor& factor, int variable, int value,
               const Assignment& chosen) {
  if (factor.scope.size() == 1) return (*factor.cells)[value];
  const bool first = factor.scope[0] == variable;
  const int other = factor.scope[first ? 1 : 0];
  const int64_t columns = problem.variables[factor.scope[1]]->size;
  auto cell = [&](int theirs) {
    return first ? (*factor.cells)[value * columns + theirs]
                 : (*factor.cells)[theirs * columns + value];
  };
  if (chosen[other] >= 0) return cell(chosen[other]);
  int64_t best = cell(0);
  for (int theirs = 1; theirs < problem.variables[other]->size; ++theirs) {
    best = std::min(best, cell(theirs));
  }
  return best;
}

Assignment Greedy(const PairwiseProblem& problem, const std::vector<int>& order) {
  std::vector<std::vector<const Factor*>> factors(problem.variables.size());
  for (const Factor& factor : problem.factors) {
    for (int variable : factor.scope) factors[variable].push_back(&factor);
  }
  Assignment chosen(problem.variables.size(), -1);
  for (int variable : order) {
    if (chosen[variable] >= 0) continue;
    int64_t least = 0;
    int best = -1;
    for (int value = 0; value < problem.variables[variable]->size; ++value) {
      int64_t cost = 0;
      for (const Factor* factor : factors[variable]) {
        cost += CostAt(problem, *factor, variable, value, chosen);
      }
      if (best < 0 || cost < least) {
        best = value;
        least = cost;
      }
    }
    chosen[variable] = best;
  }
  return chosen;
}

}  // namespace

Restrictions Unrestricted(const Graph& graph) {
  return Restrictions(graph.tensors.size() + graph.nodes.size());
}

Restriction Along(const std::vector<bool>& extents) {
  return {{OnlyExtents(extents)}, Rest::kElsewhere};
}

Restriction OnFirstDimension(const Tensor& tensor) {
  std::vector<bool> first(tensor.type.dims.size(), false);
  size_t flat = 0;
  for (const std::vector<int64_t>& factors : tensor.dims) {
    bool found = false;
    for (int64_t factor : factors) {
      first[flat++] = factor > 1;
      found |= factor > 1;
    }
    if (found) break;
  }
  return Along(first);
}

Restriction Whole(size_t extents) {
  return {{OnlyExtents(std::vector<bool>(extents, false))}, Rest::kLeftOut};
}

Choices CheapestWithin(const Graph& graph, const Mesh& mesh, Restrictions restrictions,
                       int64_t table_cells, const Budget& budget) {
  ProblemOptions options;
  options.mesh = mesh;
  options.budget = &budget;
  options.nesting = Nesting::kLevel;
  options.restrictions = std::move(restrictions);
  // In a cluster a node would take the choice of its replicated result, and every device would
  // compute all of it.
  options.cluster = std::none_of(options.restrictions.begin(), options.restrictions.end(),
                                 [](const Restriction& r) { return r.rest == Rest::kLeftOut; });
  return SearchGroups(graph, options, WidestGroups(graph, mesh, kMostCells), table_cells).choices;
}

Choices GreedyByLevel(const Graph& graph, const Mesh& mesh, const std::vector<int>& order,
                      const Budget& budget) {
  ProblemOptions level;
  level.mesh = mesh;
  level.budget = &budget;
  level.nesting = Nesting::kLevel;
  level.cluster = false;
  for (const std::vector<int>& group : GroupsOf(mesh, 1)) {
    level.axes = group;
    const Problem problem = BuildProblem(graph, level);
    std::vector<int> variables;
    for (int element : order) variables.push_back(problem.variable[element]);
    for (size_t v = 0; v < problem.elements.size(); ++v) variables.push_back(static_cast<int>(v));
    level.given = problem.ChoicesOf(Greedy(problem.pairwise, variables));
  }
  return level.given;
}

}  // namespace yuba::search
