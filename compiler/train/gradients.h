// The backward pass of a training step: the graph is walked backwards from the loss, and each
// definition on the way gives those of its gradients (opsemantics/gradient), or the description of
// the operator says them (rules.h).
//
// Example: of y = x w and loss = sum(y * y), the gradient of w is two more nodes:
//   grad(y)[i, j] = 2 * y[i, j]        grad(w)[k, j] = sum(i) grad(y)[i, j] * x[i, k]
#ifndef YUBA_COMPILER_TRAIN_GRADIENTS_H_
#define YUBA_COMPILER_TRAIN_GRADIENTS_H_

#include <vector>

#include "absl/status/statusor.h"
#include "compiler/model.h"

namespace yuba::compiler {

// Adds the nodes that compute the gradients of `loss`, a scalar of floats that a node computes, by
// the stored tensors `of`. They stand after all other nodes of the graph, which is linked. The
// model's gradient rules are applied and gone.
// [position in `of`]: the gradient, of the same type and dimensions; -1 where the loss does not
// depend on the tensor, or only by steps.
//
// Where several nodes read a tensor, a node adds up what each of them gives, in the order of the
// graph. The user's error where a node on the way has no gradient; it names the node.
absl::StatusOr<std::vector<TensorId>> AddGradients(Model& model, TensorId loss,
                                                   const std::vector<TensorId>& of);

}  // namespace yuba::compiler

#endif  // YUBA_COMPILER_TRAIN_GRADIENTS_H_
