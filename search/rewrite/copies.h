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

// The graph with a copy (an identity node, and its result of kind kCopy) for each value of a tensor
// that at least two nodes of an entry read; these nodes read the copy instead. It lives until the
// last of them has read it: what it then takes is in the rows of memory. Of a carried tensor each
// entry has two values, before and after its producer. Tensors of which no dimension is longer than
// 1 get none. `graph` must have none yet. Tensors keep their numbers, nodes their order; a copy
// node stands before the first of its readers.
Graph WithCopies(const Graph& graph);

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
