// When a model's graph with flat dimensions is worth a search besides the graph with factors.
#ifndef YUBA_SEARCH_PORTFOLIO_FLAT_MAY_DIFFER_H_
#define YUBA_SEARCH_PORTFOLIO_FLAT_MAY_DIFFER_H_

#include "opsemantics/definition/graph.h"
#include "opsemantics/sharding/sharding.h"

namespace yuba::search {

// Whether the graph without factors may cut a factored dimension of `graph` where its factors do
// not end: in some order, the sizes of the mesh axes do not multiply to whole factors ((4 64) over
// axes of 2 and 7, not over 2 and 2).
bool FactorsMayNotNest(const Graph& graph, const Mesh& mesh);
// Whether a definition reads one tensor along two orders of indices (x + transpose(x)) or by a
// pick: the graph without factors has a tensor in between, which may be cheaper to move than the
// box that such a definition reads.
bool HasLooseBoxes(const Graph& graph);

// Whether two variants of one model have the same tensors and nodes in one order, so that every
// plan of the one is a plan of the other.
bool ComputesAlike(const Graph& a, const Graph& b);

}  // namespace yuba::search

#endif  // YUBA_SEARCH_PORTFOLIO_FLAT_MAY_DIFFER_H_
