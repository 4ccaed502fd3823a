// Copies: what several nodes read of one tensor is gathered once. A copy is a transient tensor, cut
// in its own way (it may be replicated), from which its readers gather; the tensor is where it
// comes from.
#ifndef YUBA_SEARCH_REWRITE_COPIES_H_
#define YUBA_SEARCH_REWRITE_COPIES_H_

#include <vector>

#include "opsemantics/definition/graph.h"
#include "opsemantics/sharding/sharding.h"

namespace yuba::search {

// The graph with a copy (an identity, and its result of kind kCopy) for each tensor and each window
// in which at least two nodes read it; these read the copy instead. Nodes are counted in an order
// that depends on structure alone: by their longest path from the inputs, then canonically. A
// reader more than `window` nodes after a window's first starts the next window. Tensors keep their
// numbers, nodes their order; a copy stands before the first of its readers. With window 0 there
// are no copies. `graph` must have none yet.
Graph WithCopies(const Graph& graph, int window);

// The graph whose nodes read what the copies are of. By its tensor (node) the number it had.
struct Uncopied {
  Graph graph;
  std::vector<TensorId> tensors;
  std::vector<NodeId> nodes;
};
Uncopied WithoutCopies(const Graph& graph);

// The shardings of `graph`, tensors first, where WithoutCopies(graph) has `cuts`, and every copy
// lies as what it is of: that moves the same.
std::vector<Sharding> ChoicesWithCopies(const Graph& graph, const Uncopied& without,
                                        const std::vector<Sharding>& shardings);

}  // namespace yuba::search

#endif  // YUBA_SEARCH_REWRITE_COPIES_H_
