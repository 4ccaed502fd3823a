// The type and dimensions of an output, once extents, attributes and lets are bound. An output's
// dimensions are expressions of these, as in y[b, (h + lo + hi - k)/stride + 1].
#ifndef YUBA_OPSEMANTICS_ELABORATE_BIND_OUTPUT_H_
#define YUBA_OPSEMANTICS_ELABORATE_BIND_OUTPUT_H_

#include "absl/status/statusor.h"
#include "opsemantics/elaborate/bind.h"

namespace yuba {

// `binding` has the operands' dimensions and all names; `evaluator` evaluates with these names. An
// extent below 0 or a size beyond 64 bits is a user's error: it underlines the dimension and gives
// the values of the names in it.
absl::StatusOr<BoundTensor> BindOutput(const OpDescription& op, const Output& output,
                                       const Binding& binding, Evaluator& evaluator);

}  // namespace yuba

#endif  // YUBA_OPSEMANTICS_ELABORATE_BIND_OUTPUT_H_
