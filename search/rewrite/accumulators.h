// Accumulators: products that meet in one sum are reduced once for the sum, not once each. They
// are copies turned round: one more variable between several nodes that make terms and the tensor
// that is their sum.
#ifndef YUBA_SEARCH_REWRITE_ACCUMULATORS_H_
#define YUBA_SEARCH_REWRITE_ACCUMULATORS_H_

#include "opsemantics/definition/graph.h"
#include "opsemantics/sharding/sharding.h"

namespace yuba::search {

// The graph with an accumulator for each sum y1 + y2 + ... in the body of a map, of reductions by
// sum that nothing else reads: a = y1 + y2 + ... is a node before the map (or instead of it, where
// there is no more to it), and the map reads a. The tensors y are partials from now on: their
// sharding, which is the accumulator's, may leave axes out, and devices that agree on those are a
// group. Each device keeps, for its own box, the sum of what its group has made of y; the groups'
// sums are the parts of a that its node reduces.
//
// Only sums are taken that are their own accumulators, and only of nodes that are cut over all axes
// of the mesh whatever their sharding: then any plan of `graph` has one here that moves no more.
// Tensors keep their numbers, nodes their order.
Graph WithAccumulators(const Graph& graph, const Mesh& mesh);

bool HasAccumulators(const Graph& graph);

}  // namespace yuba::search

#endif  // YUBA_SEARCH_REWRITE_ACCUMULATORS_H_
