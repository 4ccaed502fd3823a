// The loss of a training step.
#ifndef YUBA_COMPILER_IMPORT_LOSS_H_
#define YUBA_COMPILER_IMPORT_LOSS_H_

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "compiler/import/onnx_graph.h"
#include "compiler/import/options.h"
#include "compiler/import/translate/node.h"
#include "compiler/train/train.h"

namespace yuba::onnx {

// The input that a loss adds. It counts as the last input of the file: with one input in the file,
// input_1.pb of a folder of data are labels.
constexpr char kLabels[] = "labels";
// The output that it is.
constexpr char kLossName[] = "loss";

// The optimizer of the options, found in the library, its attributes, and what it starts with.
// Names may have - for _. The user's error where no description has that name, where it is no
// optimizer, or where it lacks an attribute.
absl::StatusOr<compiler::TrainRecipe> RecipeOf(const TrainOptions& options,
                                               const OperatorLibrary& library);

// Adds a use of the loss, which reads the output that it judges, when all outputs and carried pairs
// are in the graph. Its second operand is a new input, `labels`, whose shape follows from the first
// by the names of the extents: of op loss(x[s.., n], labels[s..]: int) and an output [8, 10] it is
// i64[8]. The loss is the output `loss` of the entry, and next values of states are the only
// others. `first` is the position in graph.outputs of the entry's first output.
absl::Status AddLoss(const TrainOptions& options, const OperatorLibrary& library,
                     NodeContext& context, size_t first, OnnxGraph& graph);

}  // namespace yuba::onnx

#endif  // YUBA_COMPILER_IMPORT_LOSS_H_
