// The dimensions of a tensor that a description defines for itself, from its definitions.
#ifndef YUBA_OPSEMANTICS_ELABORATE_INFER_TENSOR_H_
#define YUBA_OPSEMANTICS_ELABORATE_INFER_TENSOR_H_

#include <vector>

#include "absl/status/statusor.h"
#include "opsemantics/elaborate/bind.h"
#include "opsemantics/elaborate/body.h"

namespace yuba {

// `items` are all definitions of one name that is no output; what they read is in `binding`. An
// index has the extent written behind it, or that of a dimension which the first body reads with
// the bare index; constants on the left sides count from 0 to the largest. The element type stays
// open.
absl::StatusOr<BoundTensor> InferTensor(const OpDescription& op, const Binding& binding,
                                        const std::vector<const Item*>& items, BodyEvaluator& body);

}  // namespace yuba

#endif  // YUBA_OPSEMANTICS_ELABORATE_INFER_TENSOR_H_
