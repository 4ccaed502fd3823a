// The derivative of a body by each of its reads: reverse accumulation over the terms of the body,
// each once.
//
// Example: of the body x0[i] * exp(x1[i]) with the seed s, the read x0[i] has the adjoint
// s * exp(x1[i]) and the read x1[i] the adjoint s * x0[i] * exp(x1[i]).
#ifndef YUBA_OPSEMANTICS_GRADIENT_ADJOINTS_H_
#define YUBA_OPSEMANTICS_GRADIENT_ADJOINTS_H_

#include <vector>

#include "absl/status/statusor.h"
#include "opsemantics/definition/definition.h"

namespace yuba {

struct ReadAdjoint {
  const Expr* read = nullptr;  // a kRead of an operand of floats, in the body
  ExprPtr adjoint;             // seed * (what the body changes by, for each change of the element)
};

// The adjoints of the body's reads, whose equal terms must be one node (shared_terms.h); the terms
// of the body occur in them. Reads on which the body does not depend, or only by steps (floor,
// comparisons, casts to integers), are left out. At a corner each function takes
// a side for itself, as PyTorch does: abs has 0 there; of equal arguments of max or min each gets
// half, as of maximum, but nothing beside a literal, as of relu and clamp. The user's error names a
// function that has no derivative (of `opaque` definitions).
//
// `seed` has the type of the definition's result. With `result`, a read of a tensor that holds the
// body's value, adjoints read that in the place of the body where they need its value. The body
// must outlive the answer.
absl::StatusOr<std::vector<ReadAdjoint>> AdjointsOf(const Definition& definition,
                                                    const ExprPtr& seed,
                                                    const ExprPtr& result = nullptr);

}  // namespace yuba

#endif  // YUBA_OPSEMANTICS_GRADIENT_ADJOINTS_H_
