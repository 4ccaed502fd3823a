// The dimensions of an internal tensor: one that a description defines but that is no output. They
// follow from its definitions: z[n, p: w] = ... x[n, ...] ... has the extent of x's first dimension
// and then w.
#ifndef YUBA_OPSEMANTICS_ELABORATE_INFER_TENSOR_H_
#define YUBA_OPSEMANTICS_ELABORATE_INFER_TENSOR_H_

#include <vector>

#include "absl/status/statusor.h"
#include "opsemantics/elaborate/bind.h"
#include "opsemantics/elaborate/body.h"

namespace yuba {

// `items` are all definitions of one name; the tensors that they read are in `binding`. An index
// has the extent written behind it, or that of a dimension which the first definition's body reads
// with the bare index; constants on the left sides count from 0 to the largest of them. An index
// without an extent is a user's error. The element type of the result is not set.
absl::StatusOr<BoundTensor> InferTensor(const OpDescription& op, const Binding& binding,
                                        const std::vector<const Item*>& items, BodyEvaluator& body);

}  // namespace yuba

#endif  // YUBA_OPSEMANTICS_ELABORATE_INFER_TENSOR_H_
