// Copies: what several nodes read of one tensor is gathered once.
//
// A copy is a transient tensor with a sharding of its own, which may be replicated. An identity
// node gathers it from the tensor, and several readers gather from the copy. Example: q, k and v
// are three products of one x [512/ab, 768]. Without a copy each product gathers x for itself; with
// one, x moves once into copy(x) and the three products read it in place. A copy whose sharding is
// its tensor's moves nothing and needs no memory: the plain case.
#ifndef YUBA_SEARCH_REWRITE_COPIES_H_
#define YUBA_SEARCH_REWRITE_COPIES_H_

#include <vector>

#include "opsemantics/definition/graph.h"
#include "search/plan/choice.h"

namespace yuba::search {

// The graph with a copy (an identity node, and its result of kind kCopy) for each tensor and each
// window in which at least two nodes read the tensor; these nodes read the copy instead. Tensors of
// which no dimension is longer than 1 get none.
//
// For windows, nodes are counted in an order that depends on structure alone: by their longest path
// from the inputs, then by the last of the nodes that they read, so that readers of one tensor are
// near each other, then by what surrounds them. Repeated blocks get equal copies. A reader that is
// more than `window` nodes after the first of a window starts the next window. With window 0 there
// are no copies. `graph` must have none yet. Tensors keep their numbers, nodes their order; a copy
// node stands before the first of its readers.
Graph WithCopies(const Graph& graph, int window);

// A graph without its copies: nodes read the tensors themselves.
struct Uncopied {
  Graph graph;
  std::vector<TensorId> tensors;  // [tensor of `graph`]: its number in the graph with copies
  std::vector<NodeId> nodes;      // [node of `graph`]: its number there
};
Uncopied WithoutCopies(const Graph& graph);

// The choices of `graph`, by element, that do the same as `choices`, which are choices of
// `without` = WithoutCopies(graph), tensors first. Every copy gets the sharding of its tensor, so
// that the same bytes move.
Choices ChoicesWithCopies(const Graph& graph, const Uncopied& without, const Choices& choices);

}  // namespace yuba::search

#endif  // YUBA_SEARCH_REWRITE_COPIES_H_
