// What one use of a tensor costs: what a node gathers of an operand, or reduces of its result. In
// closed form, without a look at single devices: a lower bound for two grids, and the exact bytes
// for two choices. Both equal what transfers.h says, or are below.
#ifndef YUBA_SEARCH_COST_USE_COSTS_H_
#define YUBA_SEARCH_COST_USE_COSTS_H_

#include <cstdint>
#include <vector>

#include "opsemantics/definition/graph.h"
#include "search/cost/cost_key.h"
#include "search/cost/part_boxes.h"
#include "search/plan/choice.h"
#include "search/solve/budget.h"
#include "search/space/grid_space.h"

namespace yuba::search {

class UseCosts {
 public:
  // `operand` < 0: the reduction. The definition must outlive it.
  UseCosts(const Definition& definition, int operand, const Mesh& mesh);

  CostKey Key() const { return CostKeyOf(definition_, operand_, mesh_); }

  // Row-major [tensor grid][node grid], bytes: no choices of these grids cost less; kNever
  // (memory_price.h) where no plan has both. Of no use where the budget was spent before the end.
  std::vector<int64_t> Relaxed(const std::vector<Grid>& tensor_grids,
                               const std::vector<Grid>& node_grids,
                               const Budget& budget = Budget::Unlimited());

  // The bytes of two choices of a plan. Adds to `steps` the most products that it may have summed.
  int64_t Exact(const Choice& tensor, const Choice& node, int64_t* steps);

 private:
  // What is in a cost besides the overlap, of one node grid.
  struct NodeSide {
    bool partial = false;
    int64_t size = 1;     // bytes of an element
    int64_t parts = 1;    // of the reduction
    int64_t needed = 0;   // gather: elements that all devices need
    int64_t written = 0;  // reduction: elements that the first producers make
  };
  NodeSide SideOf(const Grid& grid);
  // The cost with this overlap between devices and their pieces, and, at first owners alone, with
  // that.
  int64_t CostOf(const NodeSide& side, int64_t tensor_parts, int64_t overlap) const;
  // Devices keep what they have, home or not, and each box moves once
  // (search/rewrite/accumulators.h).
  bool IntoPartials() const { return operand_ < 0 && definition_.partial; }
  bool FromPartials() const { return operand_ >= 0 && CombinesPartials(definition_); }
  // Fetched within groups, which are those of the node (search/rewrite/partials.h).
  bool WithinGroups() const {
    return operand_ >= 0 && ReadsPartials(definition_, operand_) && !CombinesPartials(definition_);
  }
  Regions& RegionsOf(bool partial) { return partial ? partial_ : whole_; }

  const Definition& definition_;
  const int operand_;
  const Mesh mesh_;
  const int64_t devices_;
  const TensorType type_;
  int64_t elements_;
  Regions whole_, partial_;  // gathers need `whole_` only
};

}  // namespace yuba::search

#endif  // YUBA_SEARCH_COST_USE_COSTS_H_
