// The standard's losses of classes, which graphs for training have inside.
#include <limits>
#include <vector>

#include "compiler/import/translate/operators/translate.h"

namespace yuba::onnx {
namespace {

// Sums of many elements, and counts of them, do not fit narrow types.
int Wide(NodeContext& node, int value) {
  return node.Cast(value, AccumulatorType(node.ValueOf(value).type));
}

// The weights of classes; without them one that all classes have.
int WeightsOfClasses(NodeContext& node, int logs) {
  const int given = node.Optional(2);
  if (given < 0) return node.Reshape(node.Literal(node.ValueOf(logs).type, 1), {1});
  const int64_t classes = node.Dims(logs).back();
  if (node.Dims(given) != std::vector<int64_t>{classes})
    node.Fail("its weights are no list of ", classes, " numbers, one for each class");
  return node.failed() ? -1 : Wide(node, given);
}

// The loss of logarithms of probabilities, classes last, as the node's first output.
void SetLoss(NodeContext& node, int logs, ElementType type) {
  const int labels = node.Input(1);
  const int weights = WeightsOfClasses(node, logs);
  const std::string reduction = node.String("reduction", "mean");
  if (reduction != "none" && reduction != "sum" && reduction != "mean")
    node.Fail("its reduction is '", reduction, "', which is none of none, sum and mean");
  // Without the attribute no label that there is, is ignored.
  const int64_t ignored = node.Int("ignore_index", std::numeric_limits<int64_t>::min());
  if (node.failed()) return;
  const bool each = reduction == "none";
  const std::vector<int> outputs =
      node.EntryOutputs(each ? "class_losses" : "class_losses_sum", {logs, labels, weights},
                        {{"ignore_index", ignored}});
  if (node.failed()) return;
  const bool mean = reduction == "mean";
  const int quotient = mean ? node.Entry("div", {outputs[0], outputs[1]}) : outputs[0];
  if (node.failed()) return;
  const int loss = node.Cast(quotient, type);
  if (mean) node.MarkMean(loss, outputs[0], outputs[1]);
  node.SetOutput(0, loss);
}

// Classes are dimension 1 of the node's first operand.
int ClassesLast(NodeContext& node) {
  const int scores = node.Input(0);
  if (!node.failed() && node.Rank(scores) < 2) {
    node.Fail("its first operand has ", node.Rank(scores), " dimensions; it needs two at least, ",
              "examples and classes");
  }
  return node.failed() ? -1 : node.AxisLast(Wide(node, scores), 1);
}

}  // namespace

void TranslateNegativeLogLikelihood(NodeContext& node) {
  const int logs = ClassesLast(node);
  if (!node.failed()) SetLoss(node, logs, node.ValueOf(node.Input(0)).type);
}

void TranslateSoftmaxCrossEntropy(NodeContext& node) {
  const int scores = ClassesLast(node);
  if (node.failed()) return;
  const ElementType type = node.ValueOf(node.Input(0)).type;
  const int logs = node.Entry("log_softmax", {scores});
  if (node.failed()) return;
  SetLoss(node, logs, type);
  if (!node.failed() && node.HasOutput(1))
    node.SetOutput(1, node.Cast(node.AxisBack(logs, 1), type));
}

}  // namespace yuba::onnx
