// Normalizations: by running statistics, over the last dimensions, of channels and their groups.
#include <algorithm>
#include <vector>

#include "compiler/import/file/read.h"
#include "compiler/import/templates/templates.h"
#include "compiler/import/translate/operators/translate.h"

namespace yuba::onnx {
namespace {

// What running statistics are at this node: a norm that the model uses twice moves them twice in a
// step, though each of its nodes reads the stored ones.
int Latest(const NodeContext& node, int state) {
  if (!node.graph().trains) return state;
  for (const OnnxGraph::CarriedValues& pair : node.graph().statistics) {
    if (pair.state == state) return pair.next;
  }
  return state;
}

// The state whose next value the operand is, as where a norm reads what one before it has moved;
// the operand itself where it is no such value.
int StateOf(NodeContext& node, int operand) {
  if (!node.graph().trains) return operand;
  for (const OnnxGraph::CarriedValues& pair : node.graph().statistics) {
    if (pair.next == operand) return pair.state;
  }
  return operand;
}

// Running statistics, operands 3 and 4, are states where they are initializers.
void TranslateTrainingBatchNorm(NodeContext& node, const std::vector<int>& operands) {
  if (node.failed()) return;
  std::vector<int> latest = operands;
  for (const int i : {3, 4}) latest[i] = Latest(node, operands[i]);
  const std::vector<int> outputs =
      node.EntryOutputs("batch_norm_train", latest,
                        {{"eps", node.Float("epsilon", 1e-5)},
                         {"momentum", node.Float("momentum", 0.9)},
                         {"correction", node.graph().trains ? 1.0 : 0.0}});
  if (node.failed()) return;
  node.MarkStatisticsOfBatch();
  for (int i = 0; i < 3; ++i) node.SetOutput(i, outputs[i]);
  for (const int i : {3, 4}) {
    const int state = StateOf(node, operands[i]);
    if (node.MakeState(state)) node.KeepStatistics(state, outputs[i - 2]);
  }
}

// Whether the node normalizes by the batch at hand. Before opset 14 outputs beside the first say
// so.
bool NormalizesByBatch(NodeContext& node) {
  if (node.opset() >= 14) return node.Int("training_mode", 0) != 0;
  if (node.opset() < 7) return false;
  for (int i = 1; i < node.OutputCount(); ++i) {
    if (node.HasOutput(i)) return true;
  }
  return false;
}

}  // namespace

void TranslateBatchNormalization(NodeContext& node) {
  const int x = node.Input(0);
  if (node.opset() < 9 && node.Int("spatial", 1) == 0)
    return node.Fail("spatial = 0 is not supported");
  if (node.opset() < 7 && node.Int("is_test", 0) == 0) {
    return node.Fail("is_test = 0, as before opset 7 where nothing is said, means training, which ",
                     "is not supported there: convert the model (onnx.version_converter)");
  }
  std::vector<int> operands = {x};
  const bool training = NormalizesByBatch(node);
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

// The type of a normalization's first stage, which `stash_type` names: f32, unless something else
// is asked for. What is f64 stays f64.
ElementType StageType(NodeContext& node, int x) {
  const absl::StatusOr<ElementType> stash = ElementTypeFromOnnx(node.Int("stash_type", 1));
  const ElementType type = node.ValueOf(x).type;
  if (!stash.ok() || !IsFloat(*stash)) {
    node.Fail("attribute 'stash_type' must be the number of a float type");
    return type;
  }
  return type == ElementType::kF64 ? type : *stash;
}

int Filled(NodeContext& node, ElementType type, const Dims& dims, double number) {
  return node.Write(ExpandTemplate({}, dims), {node.Literal(type, number)});
}

// The second stage: times `scale`, plus `bias` unless it is absent. Both broadcast.
int Scaled(NodeContext& node, int normal, int scale, int bias) {
  const int y = node.Entry("mul", {normal, scale});
  return bias < 0 ? y : node.Entry("add", {y, bias});
}

// A scale or bias of a layer norm that broadcasts to `dims`, in `type`: with the extents of the
// normalized dimensions, those from `axis` on, where it is the same for all else.
int OfLayer(NodeContext& node, int value, ElementType type, const Dims& dims, int axis) {
  if (value < 0 || node.failed()) return -1;
  const Dims given = node.Dims(value), normal(dims.begin() + axis, dims.end());
  Dims own(dims.size(), 1);
  bool fits = given.size() <= dims.size(), differs = false;
  for (size_t d = given.size(), at = dims.size(); fits && d-- > 0;) {
    own[--at] = given[d];
    fits = given[d] == 1 || given[d] == dims[at];
    differs |= static_cast<int>(at) < axis && given[d] != 1;
  }
  if (!fits) {
    node.Fail("its scale and bias must broadcast to its operand ", Extents(dims), ", which ",
              Extents(given), " does not");
  }
  value = node.Cast(value, type);
  if (node.failed() || differs) return value;
  own.erase(own.begin(), own.begin() + axis);
  value = node.Reshape(value, own);
  return own == normal ? value : node.Write(ExpandTemplate(own, normal), {value});
}

}  // namespace

// LayerNormalization and RMSNormalization: over all dimensions from the axis on.
void TranslateLayerNormalization(NodeContext& node) {
  const bool layer = node.proto().op_type() == "LayerNormalization";
  const int x = node.Input(0);
  const int axis = node.Axis(node.Int("axis", -1), node.Rank(x));
  const ElementType type = node.ValueOf(layer ? x : node.Input(1)).type, stage = StageType(node, x);
  if (node.failed()) return;
  const Dims dims = node.Dims(x), normal(dims.begin() + axis, dims.end());
  const int scale = OfLayer(node, node.Input(1), type, dims, axis);
  const int bias = layer ? OfLayer(node, node.Optional(2), type, dims, axis) : -1;
  const bool statistics = layer && (node.HasOutput(1) || node.HasOutput(2));
  const double eps = node.Float("epsilon", 1e-5);
  const char* entry = layer ? "layer_norm" : "rms_norm";
  if (node.failed()) return;
  const bool of_layer =
      node.Dims(scale) == normal && (bias < 0 || node.Dims(bias) == normal) && !statistics;
  if (of_layer && type == stage && node.ValueOf(x).type == stage) {
    std::vector<int> operands = {x, scale};
    if (bias >= 0) operands.push_back(bias);
    return node.SetOutput(0, node.Entry(entry, operands, {{"eps", eps}}));
  }
  const int wide = node.Cast(x, stage);
  const std::vector<int> staged =
      statistics ? node.EntryOutputs("standardized", {wide}, {{"n", normal}, {"eps", eps}})
                 : node.EntryOutputs(entry, {wide, Filled(node, stage, normal, 1)}, {{"eps", eps}});
  node.SetOutput(0, Scaled(node, node.Cast(staged[0], type), scale, bias));
  Dims rows(dims.begin(), dims.begin() + axis);
  rows.resize(dims.size(), 1);
  for (int i = 1; statistics && i < 3 && !node.failed(); ++i) {
    const ElementType stash = *ElementTypeFromOnnx(node.Int("stash_type", 1));
    node.SetOutput(i, node.Cast(node.Reshape(staged[i], rows), stash));
  }
}

namespace {

// A scale or bias of `count` elements; a single one stands for all.
int OfChannels(NodeContext& node, int value, int64_t count) {
  if (node.failed() || node.Dims(value) == Dims{count}) return value;
  if (!node.Dims(value).empty() && node.Dims(value) != Dims{1}) {
    node.Fail("its scale and bias must have ", count, " elements, not ", Extents(node.Dims(value)));
    return value;
  }
  return node.Write(ExpandTemplate({}, {count}), {node.Reshape(value, {})});
}

// The normalization `entry` of channels, whose first stage has the type `stage`.
void SetChannelNorm(NodeContext& node, const char* entry, int scale, int bias, ElementType stage,
                    Attributes attributes) {
  const int x = node.Input(0);
  if (node.failed()) return;
  const ElementType type = node.ValueOf(x).type;
  const int64_t channels = node.Rank(x) < 2 ? 0 : node.Dims(x)[1];
  scale = node.Cast(OfChannels(node, scale, channels), type);
  bias = node.Cast(OfChannels(node, bias, channels), type);
  attributes["eps"] = node.Float("epsilon", 1e-5);
  if (stage == type) return node.SetOutput(0, node.Entry(entry, {x, scale, bias}, attributes));
  const int staged = node.Entry(
      entry,
      {node.Cast(x, stage), Filled(node, stage, {channels}, 1), Filled(node, stage, {channels}, 0)},
      attributes);
  Dims column(std::max(node.Rank(x) - 1, 1), 1);
  column[0] = channels;
  node.SetOutput(0, Scaled(node, node.Cast(staged, type), node.Reshape(scale, column),
                           node.Reshape(bias, column)));
}

}  // namespace

void TranslateInstanceNormalization(NodeContext& node) {
  const int x = node.Input(0), scale = node.Input(1), bias = node.Input(2);
  const ElementType stage = StageType(node, x);
  SetChannelNorm(node, "instance_norm", scale, bias, stage, {});
}

// Scale and bias have an element for each channel from opset 21 on, and for each group before.
void TranslateGroupNormalization(NodeContext& node) {
  const int x = node.Input(0);
  int operands[2] = {node.Input(1), node.Input(2)};
  const int64_t groups = node.Int("num_groups", 0);
  const ElementType stage = StageType(node, x);
  if (node.failed()) return;
  const int64_t channels = node.Rank(x) < 2 ? 0 : node.Dims(x)[1];
  if (channels < 1 || groups < 1 || channels % groups != 0)
    return node.Fail("it has ", groups, " groups for an operand ", Extents(node.Dims(x)));
  for (int& operand : operands) {
    if (node.opset() >= 21) break;
    operand = OfChannels(node, operand, groups);
    const int column = node.Reshape(operand, {groups, 1});
    const int wide = node.Write(ExpandTemplate({groups, 1}, {groups, channels / groups}), {column});
    operand = node.failed() ? -1 : node.Reshape(wide, {channels});
  }
  SetChannelNorm(node, "group_norm", operands[0], operands[1], stage, {{"g", groups}});
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
