// Custom gradients of descriptions (opsemantics/language/gradient_items.h), taken out
// of the graph before it is differentiated: the nodes that compute them stand aside until the
// gradients of the operator's outputs are known.
//
// Example: a use of softmax with the result y from x is, with its description's `grad`, a group of
// nodes from x to y, and the nodes of a rule: t = sum(dy * y) and "grad x" = y * (dy - t). They
// read y and the placeholder dy, and give "grad x".
#ifndef YUBA_COMPILER_TRAIN_RULES_H_
#define YUBA_COMPILER_TRAIN_RULES_H_

#include <vector>

#include "compiler/model.h"

namespace yuba::compiler {

// A rule whose tensors have names that stay the same while nodes are added.
struct UseRule {
  struct Pair {
    TensorId of = -1;
    TensorId gradient = -1;  // of an output: the placeholder; of an operand: what the rule's nodes
                             // compute, -1: it is to be derived from the group
  };
  std::vector<Pair> outputs, operands;
  std::vector<NodeId> group;  // the nodes from the operands to the outputs, ascending
  std::vector<Node> nodes;    // each after those whose results it reads
};

// Takes the rules out of the model: its graph has the inputs and outputs of the user again, and no
// node of a rule; it is linked, but tensors of rules have no producer.
std::vector<UseRule> TakeGradientRules(Model& model);

// [position]: the nodes of a step backwards, in ascending order: those of a group together, others
// alone. The steps are in an order in which each comes before those that compute what it reads; of
// several possible ones the step with the last node comes first.
std::vector<std::vector<NodeId>> BackwardSteps(const Graph& graph,
                                               const std::vector<UseRule>& rules);

}  // namespace yuba::compiler

#endif  // YUBA_COMPILER_TRAIN_RULES_H_
