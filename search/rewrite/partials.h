// Partials: sums that stay unreduced through what is linear in them.
//
// Example: y = (x w) v, where x w is cut over its sum on 8 devices, so that each device has one
// partial of x w. The second product is linear in it: each device can multiply its own partial with
// v, and only the products are added up. That moves fewer bytes where y is smaller than x w.
#ifndef YUBA_SEARCH_REWRITE_PARTIALS_H_
#define YUBA_SEARCH_REWRITE_PARTIALS_H_

#include "opsemantics/definition/graph.h"
#include "search/plan/choice.h"

namespace yuba::search {

// The graph in which sums may stay unreduced. A tensor becomes partials (TensorKind::kPartial, as
// in accumulators.h) if a sum makes it, or a node that itself reads partials, and one node alone
// reads it and is linear in it. That reader gets one more index, the last, which numbers groups of
// devices; each device reads the partials of its own group. A plan in which that index is whole
// leaves nothing unreduced and is a plan of `graph`. Where a node is linear in several operands,
// but not in all of them together, larger operands come first.
//
// Only tensors are taken that are certain to use all axes of the mesh, and whose producers are
// (UsesAllAxes). Replicas of such a tensor for its one reader would save nothing that the reader's
// gather does not, so that any plan of `graph` has one here that moves no more (WithGroups).
// Tensors and nodes keep their numbers. A graph of which some plan may move kNever bytes
// (search/plan/memory_price.h) is returned as it is.
Graph WithPartials(const Graph& graph, const Mesh& mesh);
// Whether some sum of the graph could stay unreduced, however many bytes plans move.
bool MayStayUnreduced(const Graph& graph, const Mesh& mesh);
// Whether some node reads partials without being an accumulator.
bool HasPartials(const Graph& graph);
// The graph that WithPartials was given.
Graph WithoutPartials(const Graph& graph);
// The choices of `graph`, by element, for these choices of WithoutPartials(graph): the groups'
// index of each reader is whole, and partials are cut as far as they can be.
Choices WithGroups(const Graph& graph, const Mesh& mesh, Choices choices);

}  // namespace yuba::search

#endif  // YUBA_SEARCH_REWRITE_PARTIALS_H_
