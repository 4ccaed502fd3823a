// Clusters: tensors and nodes that share one variable, because an optimal plan has them cut alike.
//
// A map that reads an operand of its full size at bare indices pairs the dimensions of the operand,
// its own indices and the dimensions of its result. Three exact merges, each of something that no
// other merge has touched yet (boxes obey the triangle inequality: a detour is never cheaper):
//   - a map of one operand takes the choice of its result (a copy is one variable with its node);
//   - a tensor that only one map reads takes the choice of that map;
//   - the result of a map takes the choice of the map where at most one node reads it.
// And the partials of an accumulator are always cut as it is.
#ifndef YUBA_SEARCH_SPACE_CLUSTER_H_
#define YUBA_SEARCH_SPACE_CLUSTER_H_

#include <vector>

#include "absl/types/optional.h"
#include "opsemantics/definition/graph.h"

namespace yuba::search {

// By element: tensors first, then nodes (element = tensors.size() + node).
struct Clusters {
  std::vector<int> representative;
  // For each dimension or index of the element, the one of its representative that is cut with it;
  // -1 where the extent is 1.
  std::vector<std::vector<int>> dims;
  std::vector<int> merged;  // the elements that are no longer variables, in the order of merging
};

// `pinned` elements are never merged into others.
Clusters MakeClusters(const Graph& graph, const std::vector<bool>& pinned);

// For each dimension of operand `operand` (of the result where operand is -1) the index that runs
// along it, if all its reads are at the same bare, distinct indices of equal extent and together
// they are all indices longer than 1; else empty optional. -1 stands for a dimension of extent 1.
absl::optional<std::vector<int>> Alignment(const Definition& definition, int operand);

}  // namespace yuba::search

#endif  // YUBA_SEARCH_SPACE_CLUSTER_H_
