// Long sums of partials are added up a few at a time, so that the first need not be held until the
// last are there.
//
// Example: a recurrence of 20 steps uses its weight 20 times, so its gradient is an accumulator of
// 20 partials (search/rewrite/accumulators.h), each as large as the weight's shard or larger. Here
// four of them become one as soon as they are there, then three more are added to it, and so on:
// five are live at most. Nothing more moves, since each device adds up what its group keeps anyway.
// The search needs no such nodes: none of them has a choice of its own, and steps that differ in
// them would no longer be repetitions of each other.
#ifndef YUBA_COMPILER_SPMD_SHORT_SUMS_H_
#define YUBA_COMPILER_SPMD_SHORT_SUMS_H_

#include <vector>

#include "absl/types/optional.h"
#include "opsemantics/definition/graph.h"

namespace yuba::compiler {

struct ShortSums {
  Graph graph;
  // [node of `graph`]: the node of the given graph that it is, or of whose sum it adds up a part.
  std::vector<NodeId> of;
  // [tensor of `graph`]: the tensor of the given graph that it is or, of the sum of a part, is
  // sharded like.
  std::vector<TensorId> like;
};

// The graph in which no accumulator has more than four terms. Those of a longer one are added up in
// the order in which they are computed: a node "part(SUM, 1)" stands behind the last of the first
// four, computes partials of the same groups, and is a term in their place. Tensors keep their
// numbers, new ones follow. The graph must be linked, and so is the result. nullopt where the graph
// has no longer one.
absl::optional<ShortSums> WithShortSums(const Graph& graph);

}  // namespace yuba::compiler

#endif  // YUBA_COMPILER_SPMD_SHORT_SUMS_H_
