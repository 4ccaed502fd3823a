// Gradients are made smaller where they are too large together, before they update anything: what
// clip_grad_norm_ of PyTorch does. The norm of all gradients is the root of the sum of the squares
// of all their elements. Where it is above a limit, each gradient is multiplied by limit / norm.
#ifndef YUBA_COMPILER_TRAIN_CLIP_H_
#define YUBA_COMPILER_TRAIN_CLIP_H_

#include <vector>

#include "absl/status/statusor.h"
#include "compiler/model.h"
#include "opsemantics/elaborate/elaborate.h"

namespace yuba::compiler {

// The name of the output that holds the norm before clipping.
constexpr char kGradientNorm[] = "gradient_norm";

// Three descriptions (opsemantics/operators/training.tdl) and the limit, a number above 0.
struct Clipping {
  OpDescription squares;  // op squared_norm(g[s..]) -> y[]
  OpDescription root;     // op sqrt(x[s..]) -> y[s..]
  OpDescription clipped;  // op clipped(g[s..], norm[]; limit) -> y[s..]
  double limit = 0;
};

// Adds the nodes that compute the norm of `gradients`, and those that clip each of them; returns
// the clipped ones, parallel to `gradients`. The user's error where a description does not
// elaborate, or gradients are neither all f32 nor all f64.
absl::StatusOr<std::vector<TensorId>> ClipGradients(Model& model, const Clipping& clipping,
                                                    const std::vector<TensorId>& gradients);

}  // namespace yuba::compiler

#endif  // YUBA_COMPILER_TRAIN_CLIP_H_
