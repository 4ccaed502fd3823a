// What a training step measures beside its loss, as the share of right answers.
#ifndef YUBA_COMPILER_IMPORT_METRICS_H_
#define YUBA_COMPILER_IMPORT_METRICS_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "compiler/import/onnx_graph.h"
#include "compiler/import/train_recipe.h"
#include "compiler/import/translate/node.h"

namespace yuba::onnx {

// Adds uses of the descriptions of options.metrics, which read the value that the loss judges and
// its labels, both by number in the graph. A metric takes those attributes of the loss that it has
// by the same name, such as the label that is ignored. Returns the values to make outputs: each
// metric, called by its name, "accuracy", and behind it its weight, where it has one, called
// "accuracy_weight". The user's error where there is no such description, where it judges another
// kind of labels, or where the model has a value of that name.
absl::StatusOr<std::vector<int>> AddMetrics(const std::string& metrics, const Named& loss,
                                            int judged, int labels, const OperatorLibrary& library,
                                            NodeContext& context, OnnxGraph& graph);

}  // namespace yuba::onnx

#endif  // YUBA_COMPILER_IMPORT_METRICS_H_
