// The order that a depth-first walk from the outputs leaves: the one that import numbers nodes in,
// and the one that `order` keeps unless another has a lower peak.
#ifndef YUBA_COMPILER_ORDER_DEPTH_FIRST_H_
#define YUBA_COMPILER_ORDER_DEPTH_FIRST_H_

#include <vector>

#include "absl/status/statusor.h"
#include "opsemantics/definition/graph.h"

namespace yuba::compiler {

// The node `before` must run before the node `after`, though `after` reads nothing of it. Example:
// a node that reads a state runs before the node that writes the state's next value into its slot.
struct Precedence {
  NodeId before = -1, after = -1;
};

// Of each carried tensor (graph.h) the nodes that read its value before the step, or a copy of it,
// which they do because they stand before the node that computes its next value, must stay before
// that node.
std::vector<Precedence> ReadersBeforeWriters(const Graph& graph);

// All nodes in post-order from the outputs, in their order: a node comes after what it reads, in
// the order of its operands, and then after the nodes that precede it, in the order of
// `precedences`. Nodes that no output needs follow. It depends on structure alone, not on the order
// of graph.nodes. Without precedences a graph from import/ is in this order already.
//
// `graph` must be linked. InvalidArgument where no order exists, with the name of a node on the
// cycle: some node would have to run before another that it needs.
absl::StatusOr<std::vector<NodeId>> DepthFirst(const Graph& graph,
                                               const std::vector<Precedence>& precedences);

}  // namespace yuba::compiler

#endif  // YUBA_COMPILER_ORDER_DEPTH_FIRST_H_
