// Long sums of partials are added up a few at a time (opsemantics/definition/short_sums.h).
//
// Nothing more moves, since each device adds up what its group keeps anyway. The search needs no
// such nodes: none of them has a choice of its own, and steps that differ in them would no longer
// be repetitions of each other.
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

// The graph in which accumulators add up the last group of their terms (TermsInGroups): a node
// "part(SUM, 1)" stands behind the last term of the first group, computes partials of the same
// groups of devices, and is a term in their place. Tensors keep their numbers, new ones follow. The
// graph must be linked, and so is the result. nullopt where the graph has no longer one.
absl::optional<ShortSums> WithShortSums(const Graph& graph);

}  // namespace yuba::compiler

#endif  // YUBA_COMPILER_SPMD_SHORT_SUMS_H_
