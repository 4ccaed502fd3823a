// Copies: what several nodes read of one tensor is fetched once. A copy is a transient tensor, cut
// in its own way (it may be replicated), from which its readers fetch; the tensor is where it comes
// from.
#ifndef YUBA_SEARCH_COPIES_H_
#define YUBA_SEARCH_COPIES_H_

#include "opsemantics/graph.h"

namespace yuba {

// The graph with a copy (an identity, and its result of kind kCopy) for each tensor and each window
// in which at least two nodes read it; these read the copy instead. Nodes are counted in an order
// that depends on structure alone: by their longest path from the inputs, then canonically. A
// reader more than `window` nodes after a window's first starts the next window. Tensors keep their
// numbers, nodes their order; a copy stands before the first of its readers. With window 0 there
// are no copies. `graph` must have none yet.
Graph WithCopies(const Graph& graph, int window);

}  // namespace yuba

#endif  // YUBA_SEARCH_COPIES_H_
