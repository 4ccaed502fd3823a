// Gradients are made smaller where they are too large together, before they update anything: what
// clip_grad_norm_ of PyTorch does. The norm of all gradients is the root of the sum of the squares
// of all their elements. Where it is above a limit, each gradient is multiplied by limit / norm.
#ifndef YUBA_COMPILER_TRAIN_CLIP_H_
#define YUBA_COMPILER_TRAIN_CLIP_H_

#include <vector>

#include "absl/status/statusor.h"
#include "compiler/model.h"
#include "opsemantics/language/library.h"

namespace yuba::compiler {

// The name of the output that holds the norm before clipping.
constexpr char kGradientNorm[] = "gradient_norm";

// Adds the nodes that compute the norm of `gradients`, and those that clip each of them to `limit`,
// a number above 0: uses of three descriptions of the library (operators/training.tdl),
//   op squared_norm(g[s..]) -> y[]    op sqrt(x[s..]) -> y[s..]
//   op clipped(g[s..], norm[]; limit) -> y[s..]
// Returns the clipped ones, parallel to `gradients`. The user's error where gradients are neither
// all f32 nor all f64, or a tensor has the name of the norm.
absl::StatusOr<std::vector<TensorId>> ClipGradients(Model& model, double limit,
                                                    const OperatorLibrary& library,
                                                    const std::vector<TensorId>& gradients);

}  // namespace yuba::compiler

#endif  // YUBA_COMPILER_TRAIN_CLIP_H_
