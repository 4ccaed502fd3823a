// Post-ops of products (regions/post_ops.h), those too that are gradients: an element times the
// slope of an activation at an element of another operand. What the slope of an activation looks
// like is what its own gradient is (gradient.h), in any order of what is added or multiplied.
//
// Example: y[i, j] = d[i, j] * slope(x[i, j]), where slope is the derivative of GELU by tanh, is of
// the operand d the step GELU_TANH_SLOPE of x along {0, 1}.
#ifndef YUBA_OPSEMANTICS_GRADIENT_SLOPES_H_
#define YUBA_OPSEMANTICS_GRADIENT_SLOPES_H_

#include <vector>

#include "absl/types/optional.h"
#include "opsemantics/definition/definition.h"
#include "opsemantics/regions/post_ops.h"

namespace yuba {

// As MatchPostOps, of whose map operand `value` goes through the steps, and also one step
// kGeluTanhSlope where the map is nothing else and has two operands of the result's type and
// dimensions, both read at the element that it computes. nullopt where there are no such steps.
absl::optional<std::vector<PostOp>> MatchPostOpsAndSlopes(const Definition& definition, int value);

}  // namespace yuba

#endif  // YUBA_OPSEMANTICS_GRADIENT_SLOPES_H_
