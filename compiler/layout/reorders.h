// Nodes that reorder the dimensions of a tensor, where a layout ends. They are maps that copy, so
// that nothing else needs to know them.
#ifndef YUBA_COMPILER_LAYOUT_REORDERS_H_
#define YUBA_COMPILER_LAYOUT_REORDERS_H_

#include <vector>

#include "compiler/layout/layouts.h"
#include "opsemantics/definition/graph.h"
#include "search/plan/plan.h"

namespace yuba::compiler {

// Adds what stands between tensors of other orders than row-major and what must be row-major:
// - inputs and outputs that are not stored. A map that alone reads an input reorders it itself;
// - what opaque functions read and compute;
// - what a product reads and computes where libraries could merge its dimensions, and could not in
//   the new order, as where an image is flattened before a linear layer.
// Tensors keep their numbers, new ones follow and are sharded like what they copy, so that nothing
// moves. On return `orders` has the new tensors, too, and lacks what is row-major. All dimensions
// are in their old order yet. Returns the number that each node has now. The graph is linked.
std::vector<NodeId> AddReorders(Graph& graph, search::Plan& plan, DimOrders& orders);

}  // namespace yuba::compiler

#endif  // YUBA_COMPILER_LAYOUT_REORDERS_H_
