// Values that constants of the file decide: what is computed from shapes, numbers and tables alone,
// however long the way. Import knows small values anyhow (OnnxValue::known); this looks at larger
// ones, for who can make something of them.
#ifndef YUBA_COMPILER_IMPORT_TRANSLATE_DECIDED_VALUES_H_
#define YUBA_COMPILER_IMPORT_TRANSLATE_DECIDED_VALUES_H_

#include <utility>
#include <vector>

#include "absl/types/optional.h"
#include "compiler/import/onnx_graph.h"

namespace yuba::onnx {

// What the instance's outputs are for these operands, both by position.
std::vector<std::pair<int, TensorValue>> Evaluate(const Instance& instance,
                                                  const std::vector<const TensorValue*>& operands);

// The number of points at which the interpreter looks to compute the instance.
double PointsOf(const Instance& instance);

// The elements of the value, where neither an input nor a weight has a part in it and neither it
// nor what it is computed from has more than `most` elements; else nullopt.
absl::optional<TensorValue> DecidedValue(const OnnxGraph& graph, int value, int64_t most);

}  // namespace yuba::onnx

#endif  // YUBA_COMPILER_IMPORT_TRANSLATE_DECIDED_VALUES_H_
