// What a node's kernel costs by its grid, as often as it runs: under time (search/plan/objective.h)
// nodes cost something by themselves, and not only where they meet tensors.
#ifndef YUBA_SEARCH_COST_KERNEL_COSTS_H_
#define YUBA_SEARCH_COST_KERNEL_COSTS_H_

#include <cstdint>
#include <map>

#include "opsemantics/base/arithmetic.h"
#include "opsemantics/definition/graph.h"
#include "search/plan/kernel_time.h"

namespace yuba::search {

// Not for several threads at a time. The graph must outlive this.
class KernelCosts {
 public:
  KernelCosts(const Graph& graph, NodeId node, Objective objective)
      : graph_(graph), node_(node), objective_(std::move(objective)) {}

  // Nanoseconds in a step (KernelTime of search/plan/kernel_time.h).
  int64_t Of(const Grid& grid) {
    const auto [place, is_new] = known_.emplace(grid, 0);
    if (is_new) {
      place->second =
          CheckedMultiply(TimesOf(graph_, node_), KernelTime(graph_, node_, grid, objective_));
    }
    return place->second;
  }

 private:
  const Graph& graph_;
  const NodeId node_;
  const Objective objective_;
  std::map<Grid, int64_t> known_;
};

}  // namespace yuba::search

#endif  // YUBA_SEARCH_COST_KERNEL_COSTS_H_
