// The type and dimensions of an output, once extents, attributes and lets are bound.
#ifndef YUBA_OPSEMANTICS_ELABORATE_BIND_OUTPUT_H_
#define YUBA_OPSEMANTICS_ELABORATE_BIND_OUTPUT_H_

#include "absl/status/statusor.h"
#include "opsemantics/elaborate/bind.h"

namespace yuba {

// `binding` has the operands; `evaluator` knows its names. Errors underline the dimension and give
// the values of the names in it.
absl::StatusOr<BoundTensor> BindOutput(const OpDescription& op, const Output& output,
                                       const Binding& binding, Evaluator& evaluator);

}  // namespace yuba

#endif  // YUBA_OPSEMANTICS_ELABORATE_BIND_OUTPUT_H_
