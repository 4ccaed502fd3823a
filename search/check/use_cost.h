// The checker's own least cost of one use of a tensor by a node, by their grids: as a whole, or one
// of the two terms of link_terms.h.
#ifndef YUBA_SEARCH_CHECK_USE_COST_H_
#define YUBA_SEARCH_CHECK_USE_COST_H_

#include <cstdint>
#include <vector>

#include "opsemantics/base/mesh.h"
#include "opsemantics/definition/definition.h"
#include "search/check/crossing.h"
#include "search/check/shares.h"
#include "search/plan/grid.h"
#include "search/plan/link_terms.h"
#include "search/plan/objective.h"

namespace yuba::search {

// What a cost depends on of a node grid but for the factors.
struct NodeSide {
  bool sums = false;    // the node writes partials, to be added up
  int64_t outside = 1;  // parts of a node's result in indices that are in no factor
  // Where the operand is partials, by kind of axes: into how many parts each group of devices cuts
  // them; in no plan with this node grid is that another number. Empty for other tensors.
  std::vector<int64_t> shards;
  // By kind of axes: how many partials of each element they make in indices that are in no factor.
  // Empty where the objective is bytes.
  std::vector<int64_t> repeated;
  friend bool operator<(const NodeSide& a, const NodeSide& b);
};

// The same of a tensor grid.
struct TensorSide {
  std::vector<int64_t> shards;  // by kind of axes: how many they make
  OwnersReach owners;
};
TensorSide TensorSideOf(const Mesh& mesh, const Grid& tensor);

class UseCost {
 public:
  // `times`: how often costs count. `definition` is kept by reference. `term`: kNear and
  // kFar only where IsSumOfTerms may hold: of time, and not of partials that stay unreduced.
  UseCost(const Mesh& mesh, const Objective& objective, const Definition& definition, int operand,
          int64_t times, LinkTerm term);

  // All that costs depend on, but for the mesh, the objective and what Of takes.
  std::vector<int64_t> Key() const;
  // Whether the node writes partials that are added up.
  bool SumsOf(const Grid& node) const;
  // `in_factor`: [index] whether it is in a factor of the box.
  NodeSide NodeSideOf(const Grid& node, const std::vector<bool>& in_factor) const;
  // Whether Of depends on the pairs' `reach`.
  bool NeedsReach() const;
  // The least cost, with one pair for each factor; kNever where no plan has the two grids.
  int64_t Of(const NodeSide& node, const TensorSide& tensor,
             const std::vector<const FactorPair*>& pairs) const;

 private:
  bool Reduces() const { return operand_ < 0; }
  // Whether what moves stays partials.
  bool Partials() const {
    return Reduces() ? definition_.partial : ReadsPartials(definition_, operand_);
  }
  // Adds what crosses links of outer kinds. `held`: the elements of the boxes of all devices, or of
  // first producers.
  void AddReach(const NodeSide& node, const TensorSide& tensor,
                const std::vector<const FactorPair*>& pairs, Large held, LeastMoved* least) const;
  // The bytes that move, whatever the links.
  Large BytesOf(const NodeSide& node, const TensorSide& tensor,
                const std::vector<const FactorPair*>& pairs, Large held) const;

  const Objective objective_;
  const Definition& definition_;
  const int operand_;
  const int64_t times_, devices_;
  const LinkTerm term_;
  const TensorType& type_;
};

}  // namespace yuba::search

#endif  // YUBA_SEARCH_CHECK_USE_COST_H_
