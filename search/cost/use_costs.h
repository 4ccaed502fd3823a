// The cost of one use of a tensor: what it takes a node to gather it, or to reduce into it, as
// often as it runs, in bytes or in nanoseconds (search/plan/objective.h).
//
// In closed form, without a look at single devices: a lower bound for two grids (Relaxed), and the
// exact cost for two choices (Exact). Exact bytes equal what opsemantics/base/transfers.h counts,
// exact times what opsemantics/sharding/moved.h tells.
// Example: x f32[8, 8] on the axes a=2 b=2, read by a node whose first index runs along the rows.
// For the grids {2, 2} of x and {4, 1} of the node each device reads 2 x 8 elements and has at most
// 2 x 4 of them, so Relaxed is 4 * 8 * 4 = 128 bytes. Exact is that for [8/a, 8/b] and a partition
// over ab, and more for [8/b, 8/a].
#ifndef YUBA_SEARCH_COST_USE_COSTS_H_
#define YUBA_SEARCH_COST_USE_COSTS_H_

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "opsemantics/definition/graph.h"
#include "search/cost/busiest_device.h"
#include "search/cost/cost_key.h"
#include "search/cost/part_boxes.h"
#include "search/plan/choice.h"
#include "search/plan/link_terms.h"
#include "search/plan/objective.h"
#include "search/solve/budget.h"
#include "search/solve/pairwise.h"
#include "search/space/grid_space.h"

namespace yuba::search {

// Costs by grids: rows are a tensor's, columns a node's; as the cells of a Factor.
struct CostsByGrid {
  Cells cells;                             // null: the budget was spent
  std::shared_ptr<const SumOfTables> sum;  // null: row-major
};

// Not for several threads at a time.
class UseCosts {
 public:
  // The gather of operand `operand`; `operand` < 0: the reduction into the result. Its cost counts
  // `times` times. The definition must outlive this.
  UseCosts(const Definition& definition, int operand, const Mesh& mesh, int64_t times = 1,
           const Objective& objective = Objective());
  UseCosts(const UseCosts&) = delete;
  UseCosts& operator=(const UseCosts&) = delete;

  CostKey Key() const { return CostKeyOf(definition_, operand_, mesh_, times_, objective_.kind()); }

  bool gathers() const { return operand_ >= 0; }

  // Row-major [tensor grid][node grid]: no choices of these grids cost less. kNever
  // (memory_price.h) where no plan has both. Some cells are 0 where the budget was spent before the
  // end: then the table is of no use.
  std::vector<int64_t> Relaxed(const std::vector<Grid>& tensor_grids,
                               const std::vector<Grid>& node_grids,
                               const Budget& budget = Budget::Unlimited());

  // The same, where the table would be wide as a sum of two terms (IsSumOfTerms), which is at most
  // what Relaxed says.
  CostsByGrid ByGrid(const std::vector<Grid>& tensor_grids, const std::vector<Grid>& node_grids,
                     const Budget& budget = Budget::Unlimited());
  // Whether ByGrid of so many grids is a sum.
  bool IsSum(size_t tensor_grids, size_t node_grids) const {
    return IsSumOfTerms(objective_, mesh_.kinds(), definition_, operand_,
                        static_cast<int64_t>(tensor_grids), static_cast<int64_t>(node_grids));
  }
  // A sum however large the table; not of partials that stay unreduced.
  CostsByGrid SumOfTerms(const std::vector<Grid>& tensor_grids, const std::vector<Grid>& node_grids,
                         const Budget& budget = Budget::Unlimited());

  // Of two choices that a plan may have together. Adds to `steps` an upper bound of the products
  // that it summed, as a measure of work.
  int64_t Exact(const Choice& tensor, const Choice& node, int64_t* steps);

 private:
  // What a cost depends on besides the overlap and the tensor: by one node grid.
  struct NodeSide {
    bool partial = false;  // whether partials move
    int64_t size = 1;      // bytes of an element, as often as it moves
    // Of a gather those that devices read, summed over devices; of a reduction those that first
    // producers write, of all partials.
    int64_t elements = 0;
    std::vector<const PartBoxes*> pieces;  // [factor]; none of a scalar, whose box is never empty
  };
  NodeSide SideOf(bool partial) const;  // all but the boxes
  NodeSide SideOf(const Grid& grid);
  // How many boxes are read, or written by first producers.
  int64_t BoxesOf(const Grid& grid) const;
  // Whether the use is a reduction of partials for this node grid.
  bool IsPartial(const Grid& grid) const;
  class GridTable;  // grid_table.h
  struct Columns;   // in use_costs_grids.cc, as what needs it
  std::array<Columns, 2> ColumnsOf(const std::vector<Grid>& node_grids) const;
  ClassTable AddTerm(LinkTerm term, const std::vector<Grid>& tensor_grids,
                     const std::array<Columns, 2>& columns, size_t node_grids, const Budget& budget,
                     std::vector<int64_t>* cells);
  // The indices on which costs depend: how the others are cut makes no difference.
  std::vector<int> IndicesThatMatter() const;
  int64_t ExactBytes(const Choice& tensor, const Choice& node, int64_t* steps);
  // Of tensors that hold partials, by a look at all devices.
  int64_t TimeFromBoxes(const Choice& tensor, const Choice& node) const;
  // Whether the tensor holds partials that stay unreduced.
  bool OfPartials() const { return IntoPartials() || FromPartials() || WithinGroups(); }
  // The cost when shards and boxes have `overlap` elements in common, summed over devices, or over
  // first owners alone where partials are reduced. `tensor_parts`: the parts of the tensor.
  int64_t CostOf(const NodeSide& side, int64_t tensor_parts, int64_t overlap) const;
  // The node writes partials: each device keeps what it writes of its own box, first owner or not,
  // and all else moves once (search/rewrite/accumulators.h).
  bool IntoPartials() const { return operand_ < 0 && definition_.partial; }
  // The node is an accumulator and the operand its partials.
  bool FromPartials() const { return operand_ >= 0 && CombinesPartials(definition_); }
  // The node reads partials otherwise: it gathers within its groups (search/rewrite/partials.h).
  bool WithinGroups() const {
    return operand_ >= 0 && ReadsPartials(definition_, operand_) && !CombinesPartials(definition_);
  }
  Regions& RegionsOf(bool partial) { return partial ? partial_ : whole_; }

  const Definition& definition_;
  const int operand_;
  const Mesh mesh_;
  const int64_t times_;
  const int64_t devices_;
  const TensorType type_;
  int64_t elements_;
  Regions whole_, partial_;  // gathers use `whole_` only
  const Objective objective_;
  BusiestDevice busiest_;
};

}  // namespace yuba::search

#endif  // YUBA_SEARCH_COST_USE_COSTS_H_
