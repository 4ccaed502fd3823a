// Gradients: a definition gives the definitions of its gradients. Positions at which an operand is
// read become the indices of the operand's gradient, and all other indices are summed over.
//
// Example: y[i, j] = sum(k) x0[i, k] * x1[k, j], with dy the gradient of y, gives
//   dx0[i, k] = sum(j) dy[i, j] * x1[k, j]
//   dx1[k, j] = sum(i) dy[i, j] * x0[i, k]
// A convolution y[p] = sum(u) x0[2*p + u] * x1[u] gives
//   dx0[q] = sum(p, u where 2*p + u == q) dy[p] * x1[u]
//   dx1[u] = sum(p) dy[p] * x0[2*p + u]
// A maximum goes to the first of the elements that have it, as PyTorch's max(dim), whose place is a
// definition of its own: y[i] = max(k) x0[i, k] gives at[i] = argmax(k) x0[i, k] and
//   dx0[i, k] = select(k == at[i], dy[i], 0)
// A map whose result alone says its slope is not computed again: y[i] = max(x0[i] + x1[i], 0) gives
//   dx0[i] = select(0 < y[i], dy[i], 0)
// which is what x0[i] + x1[i] says, at 0 and of NaN too.
#ifndef YUBA_OPSEMANTICS_GRADIENT_GRADIENT_H_
#define YUBA_OPSEMANTICS_GRADIENT_GRADIENT_H_

#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/optional.h"
#include "opsemantics/definition/definition.h"

namespace yuba {

// A share of the gradient of one operand; the gradient is the sum of its shares.
struct GradientShare {
  int operand = 0;        // of the definition that was differentiated
  Definition definition;  // its result has the operand's type
  // Parallel to definition.operands: k is operand k of the definition that was differentiated,
  // then come, with n operands, n for the gradient of its result and n + 1 for the place, or for
  // its result where there is no place.
  std::vector<int> sources;
};

struct Gradient {
  // Of a maximum or minimum: where it is, a number in the row-major order of all reduction indices,
  // i64. It has the operands of the definition that was differentiated.
  absl::optional<Definition> place;
  std::vector<GradientShare> shares;  // by operand; reads at different positions give several
};

// What the gradient of the result adds to the gradients of the operands k with wanted[k]. Nothing
// where the result is no float or the definition is `nograd`, and for operands on which it does not
// depend, or only by steps. The user's error where it has no gradient: a product over indices, and
// opaque functions. The definition is one of before the search (no partials).
absl::StatusOr<Gradient> GradientOf(const Definition& definition, const std::vector<bool>& wanted);

}  // namespace yuba

#endif  // YUBA_OPSEMANTICS_GRADIENT_GRADIENT_H_
