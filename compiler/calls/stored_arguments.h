// What an activation is of, stored by the call that computes the activation (program.proto,
// JointCall ACTIVATION), so that what else needs it reads it there.
//
// Example: of a product c a training step computes g = gelu(c + b), and dc = dg * slope(c + b).
// With e = c + b stored in place of c, which nothing else reads, c and e are a product with its
// bias, g = gelu(e) may be part of their call, and the gradient reads e alone.
#ifndef YUBA_COMPILER_CALLS_STORED_ARGUMENTS_H_
#define YUBA_COMPILER_CALLS_STORED_ARGUMENTS_H_

#include <functional>
#include <set>
#include <string>
#include <vector>

#include "absl/types/optional.h"
#include "compiler/calls/joint_calls.h"
#include "opsemantics/definition/graph.h"
#include "opsemantics/regions/post_ops.h"

namespace yuba::compiler {

struct StoredArguments {
  Graph graph;  // linked
  // [node]: the node of the given graph whose indices, and so whose choice in a plan, it has.
  std::vector<NodeId> nodes;
  std::vector<TensorId> tensors;  // [tensor]: the same
  std::vector<JointNodes> joint;  // products and activations, which are next to each other at best
};

// The graph, which is linked and reads through copies, with what activations are of stored in place
// of products. `may_store`: whether a library computes the product with these steps in such a call,
// the activation last. `wanted`: names of the activations' nodes to which it is done; none: to all.
StoredArguments StoreArguments(
    const Graph& graph,
    const std::function<bool(const Node& product, const std::vector<PostOp>& steps)>& may_store,
    const absl::optional<std::set<std::string>>& wanted);

}  // namespace yuba::compiler

#endif  // YUBA_COMPILER_CALLS_STORED_ARGUMENTS_H_
