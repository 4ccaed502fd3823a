// Elaboration of opaque operators: a use becomes one opaque definition (definition/opaque.h). Each
// dimension that may be cut is an index that output and operands share; every other dimension of
// the output is an output index of its own, every other one of an operand a reduction index.
//
// Example: `opaque argsort(x[s.., n]; descending: bool = 0) -> at[s.., n]: i64 cuts s flops n` on
// f32[4, 8] becomes at[s0: 4, n: 8] = opaque argsort(n.1: 8; 0) x0[s0, n.1], of 8 operations a
// call.
#ifndef YUBA_OPSEMANTICS_ELABORATE_OPAQUE_H_
#define YUBA_OPSEMANTICS_ELABORATE_OPAQUE_H_

#include "absl/status/statusor.h"
#include "opsemantics/elaborate/bind.h"
#include "opsemantics/elaborate/instance.h"

namespace yuba {

// `op` is opaque and well-formed, `binding` is of this use. A signature that the function refuses
// is a user's error.
absl::StatusOr<Instance> ElaborateOpaque(const OpDescription& op, const Binding& binding);

}  // namespace yuba

#endif  // YUBA_OPSEMANTICS_ELABORATE_OPAQUE_H_
