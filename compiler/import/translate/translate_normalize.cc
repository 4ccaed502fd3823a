// Normalizations: by running statistics, over the last dimensions, of channels and their groups.
#include <algorithm>
#include <vector>

#include "compiler/import/file/read.h"
#include "compiler/import/templates/templates.h"
#include "compiler/import/translate/translate.h"

namespace yuba::onnx {
namespace {

// Running statistics, operands 3 and 4, are states where they are initializers.
void TranslateTrainingBatchNorm(NodeContext& node, const std::vector<int>& operands) {
  if (node.failed()) return;
  const std::vector<int> outputs =
      node.EntryOutputs("batch_norm_train", operands,
                        {{"eps", node.Float("epsilon", 1e-5)},
                         {"momentum", node.Float("momentum", 0.9)},
                         {"correction", node.graph().trains ? 1.0 : 0.0}});
  if (node.failed()) return;
  node.MarkStatisticsOfBatch();
  for (int i = 0; i < 3; ++i) node.SetOutput(i, outputs[i]);
  for (const int i : {3, 4}) {
    if (node.MakeState(operands[i])) node.KeepStatistics(operands[i], outputs[i - 2]);
  }
}

}  // namespace

void TranslateBatchNormalization(NodeContext& node) {
  const int x = node.Input(0);
  if (node.opset() < 9 && node.Int("spatial", 1) == 0)
    return node.Fail("spatial = 0 is not supported");
  if (node.opset() < 7 && node.Int("is_test", 0) == 0)
    return node.Fail("is_test = 0, as before opset 7 where nothing is said, means training, which ",
                     "is not supported there: convert the model (onnx.version_converter)");
  std::vector<int> operands = {x};
  const bool training = node.Int("training_mode", 0) != 0;
  if (training && !node.graph().evaluates) {
    for (int i = 1; i < 5; ++i) operands.push_back(node.Input(i));
    return TranslateTrainingBatchNorm(node, operands);
  }
  for (const int i : {3, 4}) node.MarkStatistics(node.Input(i));
  for (int i = 1; i < 5; ++i) operands.push_back(node.Cast(node.Input(i), node.ValueOf(x).type));
  node.SetOutput(0, node.Entry("batch_norm", operands, {{"eps", node.Float("epsilon", 1e-5)}}));
  for (int i = 1; training && i < 3; ++i) node.SetOutput(i, node.Input(i + 2));  // kept as they are
}

namespace {

// Norms are computed in f32, or in the type of their operand where that is more.
void CheckStashType(NodeContext& node, int x) {
  const int64_t type = node.Int("stash_type", ::onnx::TensorProto::FLOAT);
  if (type == ::onnx::TensorProto::FLOAT || node.failed()) return;
  const absl::StatusOr<ElementType> given = ElementTypeFromOnnx(static_cast<int32_t>(type));
  if (!given.ok() || *given != node.ValueOf(x).type)
    node.Fail("attribute 'stash_type' is ", type,
              ", which is not supported: 1 is, f32, and the type of its operand");
}

}  // namespace

// LayerNormalization and RMSNormalization: over all dimensions from the axis on.
void TranslateLayerNormalization(NodeContext& node) {
  const bool layer = node.proto().op_type() == "LayerNormalization";
  const int x = node.Input(0);
  const int axis = node.Axis(node.Int("axis", -1), node.Rank(x));
  CheckStashType(node, x);
  std::vector<int> operands = {x, node.Input(1)};
  if (layer && node.Optional(2) >= 0) operands.push_back(node.Optional(2));
  if (node.failed()) return;
  const Dims normal(node.Dims(x).begin() + axis, node.Dims(x).end());
  for (size_t k = 1; k < operands.size(); ++k) {
    if (node.Dims(operands[k]) != normal)
      return node.Fail("its scale and bias must have the normalized shape ", Extents(normal),
                       ", not ", Extents(node.Dims(operands[k])));
    operands[k] = node.Cast(operands[k], node.ValueOf(x).type);
  }
  node.SetOutput(0, node.Entry(layer ? "layer_norm" : "rms_norm", operands,
                               {{"eps", node.Float("epsilon", 1e-5)}}));
}

void TranslateInstanceNormalization(NodeContext& node) {
  const int x = node.Input(0), scale = node.Input(1), bias = node.Input(2);
  node.SetOutput(
      0, node.Entry("instance_norm", {x, scale, bias}, {{"eps", node.Float("epsilon", 1e-5)}}));
}

// Scale and bias have an element for each channel from opset 21 on, and for each group before.
void TranslateGroupNormalization(NodeContext& node) {
  const int x = node.Input(0);
  std::vector<int> operands = {x, node.Input(1), node.Input(2)};
  const int64_t groups = node.Int("num_groups", 0);
  CheckStashType(node, x);
  if (node.failed()) return;
  const int64_t channels = node.Rank(x) < 2 ? 0 : node.Dims(x)[1];
  if (channels < 1 || groups < 1 || channels % groups != 0)
    return node.Fail("it has ", groups, " groups for an operand ", Extents(node.Dims(x)));
  for (size_t k = 1; k < 3 && node.opset() < 21; ++k) {
    if (node.Dims(operands[k]) != Dims{groups})
      return node.Fail("its scale and bias must have ", groups, " elements");
    const int column = node.Reshape(operands[k], {groups, 1});
    const int wide = node.Write(ExpandTemplate({groups, 1}, {groups, channels / groups}), {column});
    operands[k] = node.failed() ? -1 : node.Reshape(wide, {channels});
  }
  node.SetOutput(
      0, node.Entry("group_norm", operands, {{"g", groups}, {"eps", node.Float("epsilon", 1e-5)}}));
}

void TranslateLrn(NodeContext& node) {
  const int x = node.Input(0);
  const int64_t size = node.Int("size", 0);
  if (size < 1) node.Fail("attribute 'size' must be positive");
  node.SetOutput(0, node.Entry("lrn", {x},
                               {{"width", size},
                                {"alpha", node.Float("alpha", 1e-4)},
                                {"beta", node.Float("beta", 0.75)},
                                {"bias", node.Float("bias", 1)}}));
}

}  // namespace yuba::onnx
