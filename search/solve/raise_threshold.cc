#include "search/solve/raise_threshold.h"

#include <algorithm>
#include <utility>

#include "search/solve/fold.h"
#include "search/solve/pruned_elimination.h"
#include "search/solve/relax.h"

namespace yuba::search {

absl::optional<Deepest> Deepen(const PairwiseProblem& problem,
                               const std::vector<ClassesPtr>& classes, const Solution& start,
                               const DeepenOptions& options, const Budget& budget) {
  const absl::optional<Core> folded = Fold(problem, options.fold_cells, budget);
  if (!folded.has_value()) return absl::nullopt;
  const Core& core = *folded;
  std::vector<ClassesPtr> kept;
  for (int v : core.variables) kept.push_back(classes[v]);
  PairwiseProblem relaxed = Relaxed(core.problem, kept);
  const absl::optional<Order> order = GreedyOrder(relaxed, options.class_cells, budget);
  if (!order.has_value()) return absl::nullopt;
  const absl::optional<BucketTree> marginals = MinMarginals(relaxed, order->variables, budget);
  if (!marginals.has_value()) return absl::nullopt;
  const BucketTree& tree = *marginals;
  Deepest deepest;
  deepest.solution = start;
  deepest.bound = std::min(start.cost, tree.least + core.constant);
  deepest.order = core.order;
  deepest.plain = static_cast<int>(core.order.size());
  for (int v : order->variables) deepest.order.push_back(core.variables[v]);
  Deepening deepening(core.problem, kept, tree);
  int64_t work = options.work;
  // 0.2 %, 0.4 %, 0.8 % ... above the bound by classes, until the start cannot be undercut.
  for (int64_t step = std::max<int64_t>(deepest.bound / 500, 1);
       deepest.bound < deepest.solution.cost; step *= 2) {
    int64_t limit = std::min(tree.least + core.constant + step, deepest.solution.cost - 1);
    Deepened found = deepening.Run(limit - core.constant, options.most_cells, &work, budget);
    if (!found.finished) break;
    if (!found.found) {
      deepest.bound = limit + 1;
      continue;
    }
    deepest.solution = {core.extended(found.solution.assignment),
                        found.solution.cost + core.constant};
    deepest.bound = deepest.solution.cost;
  }
  return deepest;
}

}  // namespace yuba::search
