// The phase `order`: the nodes of a graph in an order that needs few live bytes (live_bytes.h).
//
// The depth-first order that import leaves is kept unless another one has a lower peak, so that
// plans of most models do not depend on this phase. Example: of a training step the depth-first
// order computes the gradient of each layer's input down to the first layer, then, on the way back,
// the gradients of the weights, while all of the former are live; here each weight's gradient and
// update run as soon as what they read is there.
#ifndef YUBA_COMPILER_ORDER_ORDER_H_
#define YUBA_COMPILER_ORDER_ORDER_H_

#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "compiler/model.h"
#include "compiler/order/depth_first.h"
#include "opsemantics/definition/graph.h"

namespace yuba::compiler {

struct NodeOrder {
  std::vector<NodeId> nodes;     // each node of the graph once
  int64_t peak = 0;              // bytes, of `nodes`
  int64_t depth_first_peak = 0;  // bytes; peak is at most this
  bool proved = false;           // no order has a lower peak
};

// The best order that is found within a fixed amount of work (kWork in order.cc) and keeps the
// precedences. It depends on the structure of the graph alone: neither on names nor on the order
// that its nodes have. `graph` must be linked, without copies. Errors are those of DepthFirst.
absl::StatusOr<NodeOrder> LeastPeakOrder(const Graph& graph,
                                         const std::vector<Precedence>& precedences = {});

// Puts the nodes of each entry of model.graph into the order of LeastPeakOrder; tensors keep their
// numbers, and the graph's hash, which is of the depth-first order, stays. Doing it again changes
// nothing. Every command does this to every model that it imports, in both spaces. Errors are those
// of DepthFirst.
absl::Status OrderModel(Model& model);

// Puts the model's nodes into this order: [place] is the node's number so far. They can run in it.
// Tensors keep their numbers, and clusters (compiler/cluster) come in the order of their nodes.
void Reorder(const std::vector<NodeId>& order, Model& model);

// Whether the nodes stand in an order that the phase may leave: each after what it reads, all
// precedences kept, and the peak at most that of the depth-first order. FailedPrecondition, with
// the nodes' names, where not.
absl::Status CheckOrder(const Graph& graph, const std::vector<Precedence>& precedences = {});

// CheckOrder of each entry of the graph by itself, with ReadersBeforeWriters.
absl::Status CheckOrderOfEntries(const Graph& graph);

}  // namespace yuba::compiler

#endif  // YUBA_COMPILER_ORDER_ORDER_H_
