// Accumulators: products that meet in one sum are reduced once for the sum, not once each.
//
// A graph comes in, a graph with one more node for each such sum goes out. Example:
// y = x1 w1 + x2 w2 + b, a map of two products, each cut over its sum on 8 devices. Without an
// accumulator each device's partials of x1 w1 and of x2 w2 are reduced separately. With it the node
// a = x1 w1 + x2 w2 stands between: each device adds its two partials, only a is reduced, and the
// map reads y = a + b. An accumulator mirrors a copy (copies.h): a copy is one more variable
// between a tensor and several readers, an accumulator one between several producers of terms and
// their sum.
#ifndef YUBA_SEARCH_REWRITE_ACCUMULATORS_H_
#define YUBA_SEARCH_REWRITE_ACCUMULATORS_H_

#include "opsemantics/definition/graph.h"
#include "opsemantics/sharding/sharding.h"

namespace yuba::search {

// The graph with an accumulator for each sum y1 + y2 + ... in the body of a map, where each y is a
// reduction by sum that nothing else reads and that is no output of the graph. A node
// a = y1 + y2 + ... is added before the map, which then reads a; where the map does nothing else, a
// replaces it.
//
// The tensors y become partials (TensorKind::kPartial). Their sharding, which is the accumulator's,
// may leave axes out; devices that agree on the axes left out are a group. Each device has, for its
// own box, the sum of what its group wrote of all y. The groups' sums are the partials that the
// accumulator node reduces into a.
//
// Two kinds of terms are left alone, so that any plan of `graph` is a plan here that moves no more:
// those whose element type differs from the type in which their sum is accumulated, and those whose
// producer might not use all axes of the mesh (UsesAllAxes). Tensors keep their numbers, nodes
// their order.
Graph WithAccumulators(const Graph& graph, const Mesh& mesh);

// Whether some node is an accumulator (IsAccumulator).
bool HasAccumulators(const Graph& graph);

}  // namespace yuba::search

#endif  // YUBA_SEARCH_REWRITE_ACCUMULATORS_H_
