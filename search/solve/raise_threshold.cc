#include "search/solve/raise_threshold.h"

#include <algorithm>
#include <utility>

#include "search/solve/bucket_tree.h"
#include "search/solve/fold.h"
#include "search/solve/pruned_elimination.h"
#include "search/solve/relax.h"

namespace yuba::search {

absl::optional<RaisedThreshold> RaiseThreshold(const PairwiseProblem& problem,
                                               const std::vector<ClassesPtr>& classes,
                                               const Solution& start,
                                               const RaiseThresholdOptions& options,
                                               const Budget& budget) {
  const absl::optional<Core> folded = Fold(problem, options.fold_cells, budget);
  if (!folded.has_value()) return absl::nullopt;
  const Core& core = *folded;
  std::vector<ClassesPtr> kept;
  for (int v : core.variables) kept.push_back(classes[v]);
  PairwiseProblem relaxed = Relaxed(core.problem, kept);
  const absl::optional<Order> order = GreedyOrder(relaxed, options.class_cells, budget, true);
  if (!order.has_value()) return absl::nullopt;
  const absl::optional<BucketTree> marginals = MinMarginals(relaxed, order->variables, budget);
  if (!marginals.has_value()) return absl::nullopt;
  const BucketTree& tree = *marginals;
  RaisedThreshold raised;
  raised.solution = start;
  raised.bound = std::min(start.cost, tree.least + core.constant);
  raised.order = core.order;
  raised.plain = static_cast<int>(core.order.size());
  for (int v : order->variables) raised.order.push_back(core.variables[v]);
  PrunedElimination pruned(core.problem, kept, tree);
  int64_t work = options.work;
  // 0.2 %, 0.4 %, 0.8 % ... above the bound by classes, until the start cannot be undercut.
  for (int64_t step = std::max<int64_t>(raised.bound / 500, 1); raised.bound < raised.solution.cost;
       step *= 2) {
    int64_t limit = std::min(tree.least + core.constant + step, raised.solution.cost - 1);
    PrunedSolution found = pruned.Run(limit - core.constant, options.most_cells, &work, budget);
    if (!found.finished) break;
    if (!found.found) {
      raised.bound = limit + 1;
      continue;
    }
    raised.solution = {core.extended(found.solution.assignment),
                       found.solution.cost + core.constant};
    raised.bound = raised.solution.cost;
  }
  return raised;
}

}  // namespace yuba::search
