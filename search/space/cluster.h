// Clusters: tensors and nodes that share one variable of the search, because some optimal plan has
// them cut alike.
//
// A map that reads an operand of its full size at bare indices aligns the dimensions of the operand
// with its own indices, and these with the dimensions of its result. Three merges lose nothing,
// each of an element that no other merge has touched yet. (Boxes obey the triangle inequality: a
// detour over a third sharding never moves fewer bytes.)
//   - a map of one operand takes the choice of its result, so that a copy is one variable
//     with its node;
//   - a tensor that only one map reads takes the choice of that map, unless its partials are of a
//     wider type than the tensor;
//   - the result of a map takes the choice of the map where at most one node reads it.
// Besides, the partials of an accumulator always take its choice. Example: y = relu(x w), that is
// p = x w and a map from p to y, has six elements. The map takes the choice of y, then p that of
// the map, so that four variables remain: x, w, the product, and y for itself, the map and p.
#ifndef YUBA_SEARCH_SPACE_CLUSTER_H_
#define YUBA_SEARCH_SPACE_CLUSTER_H_

#include <vector>

#include "absl/types/optional.h"
#include "opsemantics/definition/graph.h"

namespace yuba::search {

// By element: tensors first, then nodes (element = tensors.size() + node).
struct Clusters {
  std::vector<int> representative;  // [element]: the element whose variable it has
  // [element][dimension or index]: the dimension or index of its representative that is cut with
  // it; -1 where the extent is 1.
  std::vector<std::vector<int>> dims;
  std::vector<int> merged;  // the elements that are no longer variables, in the order of merging
};

// `pinned`: [element], true where the element must not be merged into another, though others may be
// merged into it. The partials of an accumulator are merged even then.
Clusters MakeClusters(const Graph& graph, const std::vector<bool>& pinned);

// [dimension] of operand `operand`, or of the result where that is -1: the index that runs along
// the dimension, -1 for a dimension of extent 1. Nothing unless all reads of the operand are at the
// same bare and distinct indices, of the dimensions' extents, which together are all indices longer
// than 1.
absl::optional<std::vector<int>> Alignment(const Definition& definition, int operand);

}  // namespace yuba::search

#endif  // YUBA_SEARCH_SPACE_CLUSTER_H_
