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

namespace {

// A copy without a restriction of its own is cut as its tensor may be, or whole, as a collective
// makes it. Its node goes with it. Partials lie where their accumulator finds them cheapest.
void RestrictShared(const Graph& graph, Restrictions& restrictions) {
  for (size_t n = 0; n < graph.nodes.size(); ++n) {
    const Node& node = graph.nodes[n];
    Restriction& of_node = restrictions[graph.tensors.size() + n];
    if (IsAccumulator(node)) of_node = Restriction();
    if (!IsCopy(graph, node)) continue;
    of_node = Restriction();
    Restriction& copy = restrictions[node.result];
    const Restriction& source = restrictions[node.operands[0]];
    if (!copy.none() || source.none()) continue;
    copy = source;
    copy.rest = Rest::kLeftOut;
    copy.any_of.push_back(
        OnlyExtents(std::vector<bool>(graph.tensors[node.result].type.dims.size(), false)));
  }
  for (size_t t = 0; t < graph.tensors.size(); ++t) {
    if (graph.tensors[t].kind == TensorKind::kPartial) restrictions[t] = Restriction();
  }
}

// Whether an element other than a copy may be replicated.
bool Replicates(const Graph& graph, const Restrictions& restrictions) {
  for (size_t e = 0; e < restrictions.size(); ++e) {
    const bool copy = e < graph.tensors.size() && graph.tensors[e].kind == TensorKind::kCopy;
    if (!copy && restrictions[e].rest == Rest::kLeftOut) return true;
  }
  return false;
}

}  // namespace

Choices CheapestWithin(const Graph& graph, const Mesh& mesh, std::vector<RestrictedGroup> groups,
                       int64_t table_cells, const Budget& budget) {
  ProblemOptions options;
  options.mesh = mesh;
  options.budget = &budget;
  options.nesting = Nesting::kLevel;
  for (RestrictedGroup& group : groups) {
    RestrictShared(graph, group.restrictions);
    // In a cluster a node would take the choice of its replicated result, and every device would
    // compute all of it.
    if (Replicates(graph, group.restrictions)) options.cluster = false;
  }
  for (RestrictedGroup& group : groups) {
    options.group = group.axes;
    options.restrictions = std::move(group.restrictions);
    Groups placing = WidestGroups(graph, MeshOfGroup(mesh, group.axes), kMostCells);
    for (std::vector<int>& axes : placing) {
      for (int& axis : axes) axis += group.axes.begin;
    }
    options.given = SearchGroups(graph, options, placing, table_cells).choices;
    // What the first group has cut otherwise than the second needs it, as the states of weights,
    // moves less where the second may go around the first.
    options.nesting = Nesting::kAnywhere;
  }
  return options.given;
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
