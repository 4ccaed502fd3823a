// Kernels of GPUs that have nothing to do with each other go next to each other, so that they
// become sections of one (program.proto, Function). This is behind the search: the plan stays as it
// is, and so does the order that it was made for, but for the nodes that move here.
//
// Example: of a training step the updates of a layer's weights stand behind their gradients, with
// products between them; nothing reads what they compute. Each moves to the next map behind it, and
// two or more become one launch. What they read is live for longer then: no node moves where more
// bytes would be live at once than before (live_bytes.h).
#ifndef YUBA_COMPILER_ORDER_GATHER_H_
#define YUBA_COMPILER_ORDER_GATHER_H_

#include <vector>

#include "compiler/model.h"
#include "compiler/order/kernel_nodes.h"
#include "opsemantics/definition/graph.h"

namespace yuba::compiler {

// The nodes of a graph of one entry in an order with fewer kernels, as `kernels`, which have each
// node once and in the graph's order, may stand beside each other. The precedences are kept, and
// the peak of live bytes is at most what it was. It depends on structure alone. `graph` is linked;
// it may have copies and accumulators.
std::vector<NodeId> Gathered(const Graph& graph, const std::vector<Precedence>& precedences,
                             const std::vector<KernelNodes>& kernels);

// Puts the nodes of each entry of model.graph into the order of Gathered, and returns it: the node
// that was at [place]. `products` are those that a library computes (cluster/products.h).
std::vector<NodeId> GatherKernels(const std::vector<Cluster>& products, Model& model);

}  // namespace yuba::compiler

#endif  // YUBA_COMPILER_ORDER_GATHER_H_
