// The loss of a training step.
#ifndef YUBA_COMPILER_IMPORT_LOSS_H_
#define YUBA_COMPILER_IMPORT_LOSS_H_

#include "absl/status/status.h"
#include "compiler/import/onnx_graph.h"
#include "compiler/import/options.h"
#include "compiler/import/translate/node.h"

namespace yuba::onnx {

// The input that a loss adds. It counts as the last input of the file: with one input in the file,
// input_1.pb of a folder of data are labels.
constexpr char kLabels[] = "labels";
// The output that it is.
constexpr char kLossName[] = "loss";
// Of a loss that has a weight, such as the count of labels that are not ignored: the output that is
// the weight, and the value that is divided by it.
constexpr char kLossWeight[] = "loss_weight";
constexpr char kLossTotal[] = "loss_total";

// The name of the weight of the number of that name: "loss_weight" of "loss".
std::string WeightNameOf(const std::string& name);

// The value `judged` as the description's first operand: totals and counts do not fit narrow types.
int Operand(const OpDescription& loss, int judged, NodeContext& context, const OnnxGraph& graph);

// The labels that the description judges `judged` by: their type and shape.
absl::StatusOr<OnnxValue> LabelsFor(const OpDescription& loss, const OnnxValue& judged);

// Adds a use of the loss of options.loss, which reads the output that it judges, when all outputs
// and carried pairs are in the graph. Its second operand is a new input, `labels`, whose shape
// follows from the first by the names of the extents: of op loss(x[s.., n], labels[s..]: int) and
// an output [8, 10] it is i64[8]. The loss is the output `loss` of the entry. Of a description with
// two outputs, a total and a weight, it is their quotient, and the weight is the output
// `loss_weight`. What options.metrics name are outputs behind it (metrics.h), and next values of
// states are the only others. With options.minimize the output of that name is the loss; a mean
// that SoftmaxCrossEntropyLoss or NegativeLogLikelihoodLoss gives has its weight. `first` is the
// position in graph.outputs of the entry's first output.
absl::Status AddLoss(const TrainOptions& options, const OperatorLibrary& library,
                     NodeContext& context, size_t first, OnnxGraph& graph);

}  // namespace yuba::onnx

#endif  // YUBA_COMPILER_IMPORT_LOSS_H_
