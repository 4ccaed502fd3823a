// The plan of a baseline: its parts on groups of mesh axes, at the best split of the mesh.
#include <utility>
#include <vector>

#include "absl/types/optional.h"
#include "search/baselines/baselines.h"
#include "search/baselines/steps.h"
#include "search/rewrite/copies.h"

namespace yuba::search {
namespace {

int64_t ValueOf(const Graph& graph, const BaselineOptions& options, const Choices& choices) {
  Plan plan;
  plan.mesh = options.mesh;
  plan.space.objective = options.objective;
  const auto middle = choices.begin() + static_cast<int64_t>(graph.tensors.size());
  plan.tensors.assign(choices.begin(), middle);
  plan.nodes.assign(middle, choices.end());
  return options.objective.machine() != nullptr ? TimeOf(graph, plan).all()
                                                : CostOf(graph, plan).bytes();
}

// How many axes the first part may have: the splits that are to be tried. All of them where no
// split suits the parts.
std::vector<int> SplitsOf(const Baseline& baseline, const Graph& graph, const Mesh& mesh) {
  const int axes = static_cast<int>(mesh.axes.size());
  if (!baseline.IsProduct()) return {axes};
  std::vector<int> splits, all;
  for (int outer = 0; outer <= axes; ++outer) {
    const bool outside = outer == 0 || mesh.axes[outer - 1].kind > 0;
    const bool inside = outer == axes || mesh.axes[outer].kind == 0;
    if (baseline.split == Split::kKinds && !(outside && inside)) continue;
    all.push_back(outer);
    const auto suits = [&](const BaselinePart& part, const AxisGroup& group) {
      return part.suits == nullptr || part.suits(graph, MeshOfGroup(mesh, group));
    };
    if (suits(baseline.parts[0], {0, outer}) && suits(baseline.parts[1], {outer, axes})) {
      splits.push_back(outer);
    }
  }
  return splits.empty() ? all : splits;
}

Choices ChoicesAt(const Baseline& baseline, int outer, const Graph& graph,
                  const BaselineOptions& options, const Budget& budget) {
  const int axes = static_cast<int>(options.mesh.axes.size());
  std::vector<RestrictedGroup> groups;
  const AxisGroup of_parts[2] = {{0, outer}, {outer, axes}};
  for (int p = 0; p < 2; ++p) {
    const AxisGroup& group = of_parts[p];
    const bool empty = group.begin == group.end && (p == 1 || axes > 0);
    if (empty || baseline.parts[p].restrict == nullptr) continue;
    groups.push_back({group, baseline.parts[p].restrict(graph, MeshOfGroup(options.mesh, group))});
  }
  return CheapestWithin(graph, options.mesh, std::move(groups), options.table_cells, budget);
}

}  // namespace

Choices ChoicesOf(const Baseline& baseline, const Graph& graph, const BaselineOptions& options,
                  const Budget& budget) {
  if (baseline.greedy != nullptr) return baseline.greedy(graph, options.mesh, budget);
  const std::vector<int> splits = SplitsOf(baseline, graph, options.mesh);
  Choices best = ChoicesAt(baseline, splits[0], graph, options, budget);
  if (splits.size() == 1) return best;
  int64_t least = ValueOf(graph, options, best);
  for (size_t s = 1; s < splits.size() && !budget.ShouldStop(); ++s) {
    Choices choices = ChoicesAt(baseline, splits[s], graph, options, budget);
    const int64_t value = ValueOf(graph, options, choices);
    if (value >= least) continue;
    least = value;
    best = std::move(choices);
  }
  return best;
}

Choices FindCheapest(const Baseline& baseline, const Graph& graph, const BaselineOptions& options,
                     const Budget& budget) {
  Choices shared = ChoicesOf(baseline, graph, options, budget);
  if (!graph.copies || budget.ShouldStop()) return shared;
  const Uncopied bare = WithoutCopies(graph);
  Choices plain = ChoicesWithCopies(graph, bare, ChoicesOf(baseline, bare.graph, options, budget));
  return ValueOf(graph, options, plain) < ValueOf(graph, options, shared) ? plain : shared;
}

}  // namespace yuba::search
