// A choice: one value of a search variable.
//
// Each tensor of a graph is a variable whose choices are shardings, each node a variable whose
// choices are partitions. Both have one form: for each extent, the mesh axes that it is cut over.
// For example {{a, b}, {}} is the sharding [32/ab, 64] of a tensor f32[32, 64], and also the
// partition of a node of two indices whose first index is cut over the axes a and b.
#ifndef YUBA_SEARCH_PLAN_CHOICE_H_
#define YUBA_SEARCH_PLAN_CHOICE_H_

#include <utility>
#include <vector>

#include "opsemantics/sharding/sharding.h"

namespace yuba::search {

// `axes` is, of a tensor, [flat dimension]: the mesh axes that it is cut over, outermost first. Of
// a node: [index of its definition]. What else a variable may decide, such as whether a tensor is
// stored or computed again, becomes a field here; operator== and Key (search/space/symmetry.h) have
// to know it.
struct Choice : Sharding {
  Choice() = default;
  explicit Choice(Sharding sharding) : Sharding(std::move(sharding)) {}
  explicit Choice(std::vector<AxisList> axes_of_extents) : Sharding{std::move(axes_of_extents)} {}
};

// [element]: the choice of each. Elements are the tensors of a graph, by TensorId, and behind them
// its nodes: element = tensors.size() + node.
using Choices = std::vector<Choice>;

}  // namespace yuba::search

#endif  // YUBA_SEARCH_PLAN_CHOICE_H_
