// Products that a library may compute together with a second kernel (program.proto, JointCall), by
// structure: in a graph, next to each other in its order, and in the program.
//
// Example: of a training step dw[k, j] = sum(t) x[t, k] * dy[t, j] and db[j] = sum(t) dy[t, j] are
// a product and the sums of one of its operands, over all that the product is summed over.
#ifndef YUBA_COMPILER_CALLS_JOINT_CALLS_H_
#define YUBA_COMPILER_CALLS_JOINT_CALLS_H_

#include <functional>
#include <vector>

#include "opsemantics/definition/graph.h"
#include "runtime/program/program.pb.h"

namespace yuba::compiler {

// A product and the node that one call computes with it, by name, as numbers change when nodes
// move.
struct JointNodes {
  program::JointCall::Kind kind = program::JointCall::OPERAND_SUMS;
  std::string product, other;  // `product`: the last node of its kernel, which may have post-ops
  TensorId operand = -1;       // that is summed, or at which the slope is
  // For each flat dimension of the other's result, an index of the product's definition.
  std::vector<int> indices;
};

// Those of a linked graph, at most one for each product and each other node. `is_product`: whether
// a library computes the node and may compute such a call of it.
std::vector<JointNodes> FindOperandSums(const Graph& graph,
                                        const std::function<bool(const Node&)>& is_product);

// An order of the graph's nodes in which the others stand next to their products, activations
// behind them, where they may move there. Only these move, and only those that are kernels of their
// own in `program`, which is of the graph, as are products whose operands are summed.
std::vector<NodeId> BesideProducts(const Graph& graph, const std::vector<JointNodes>& joint,
                                   const program::Program& program);

// Adds those to the program of the graph, of which neither functions nor memory are planned, whose
// kernels are neighbours and compute nothing else, over the same parts on all devices. Exchanges
// between them move out of the way.
void AddJointCalls(const Graph& graph, const std::vector<JointNodes>& joint,
                   program::Program& program);

}  // namespace yuba::compiler

#endif  // YUBA_COMPILER_CALLS_JOINT_CALLS_H_
