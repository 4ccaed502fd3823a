#include "compiler/import/translate/table.h"

#include <map>

#include "compiler/import/translate/translate.h"

namespace yuba::onnx {
namespace {

OperatorRow Same(const char* onnx, const char* entry, std::vector<AttributeRow> attributes = {}) {
  return {onnx, entry, nullptr, std::move(attributes)};
}
OperatorRow By(const char* onnx, Translate translate) { return {onnx, nullptr, translate, {}}; }

// Every operator of ONNX that is understood.
const std::vector<OperatorRow>& Rows() {
  static const auto* const kRows = new std::vector<OperatorRow>{
      // Elementwise, one operand.
      Same("Abs", "abs"),
      Same("Ceil", "ceil"),
      Same("Cos", "cos"),
      Same("Cosh", "cosh"),
      Same("Erf", "erf"),
      Same("Exp", "exp"),
      Same("Floor", "floor"),
      Same("HardSwish", "hard_swish"),
      Same("IsNaN", "is_nan"),
      Same("Log", "log"),
      Same("Mish", "mish"),
      Same("Neg", "neg"),
      Same("Not", "not"),
      Same("Reciprocal", "reciprocal"),
      Same("Relu", "relu"),
      Same("Round", "round"),
      Same("Sigmoid", "sigmoid"),
      Same("Sign", "sign"),
      Same("Sin", "sin"),
      Same("Sinh", "sinh"),
      Same("Softplus", "softplus"),
      Same("Softsign", "softsign"),
      Same("Sqrt", "sqrt"),
      Same("Tan", "tan"),
      Same("Tanh", "tanh"),
      Same("Celu", "celu", {{"alpha", "alpha", 1}}),
      Same("Elu", "elu", {{"alpha", "alpha", 1}}),
      Same("HardSigmoid", "hard_sigmoid", {{"alpha", "alpha", 0.2}, {"beta", "beta", 0.5}}),
      Same("LeakyRelu", "leaky_relu", {{"alpha", "alpha", 0.01}}),
      Same("Selu", "selu",
           {{"alpha", "alpha", 1.67326319217681884765625},
            {"gamma", "gamma", 1.05070102214813232421875}}),
      Same("Swish", "swish", {{"alpha", "alpha", 1}}),
      Same("ThresholdedRelu", "thresholded_relu", {{"alpha", "alpha", 1}}),
      By("Cast", TranslateCast),
      By("CastLike", TranslateCast),
      By("Clip", TranslateClip),
      By("Gelu", TranslateGelu),
      By("Identity", TranslateIdentity),
      By("IsInf", TranslateIsInf),
      // Elementwise, several operands.
      Same("Add", "add"),
      Same("And", "and"),
      Same("Div", "div"),
      Same("Equal", "equal"),
      Same("Greater", "greater"),
      Same("GreaterOrEqual", "greater_equal"),
      Same("Less", "less"),
      Same("LessOrEqual", "less_equal"),
      Same("Mul", "mul"),
      Same("Or", "or"),
      Same("PRelu", "prelu"),
      Same("Sub", "sub"),
      Same("Where", "select"),
      Same("Xor", "xor"),
      By("Max", TranslateMax),
      By("Mean", TranslateMean),
      By("Min", TranslateMin),
      By("Mod", TranslateMod),
      By("Pow", TranslatePow),
      By("Sum", TranslateSum),
      // Products and windows.
      By("Attention", TranslateAttention),
      By("AveragePool", TranslateAveragePool),
      By("Conv", TranslateConv),
      By("ConvTranspose", TranslateConvTranspose),
      By("Einsum", TranslateEinsum),
      By("Gemm", TranslateGemm),
      By("GRU", TranslateRecurrent),
      By("LSTM", TranslateRecurrent),
      By("MatMul", TranslateMatMul),
      By("MaxPool", TranslateMaxPool),
      By("RNN", TranslateRecurrent),
      Same("GlobalAveragePool", "global_average_pool"),
      Same("GlobalMaxPool", "global_max_pool"),
      // Reductions and normalizations.
      By("ArgMax", TranslateArg),
      By("ArgMin", TranslateArg),
      By("CumSum", TranslateCumSum),
      By("ReduceL1", TranslateReduce),
      By("ReduceL2", TranslateReduce),
      By("ReduceLogSum", TranslateReduce),
      By("ReduceLogSumExp", TranslateReduceLogSumExp),
      By("ReduceMax", TranslateReduce),
      By("ReduceMean", TranslateReduce),
      By("ReduceMin", TranslateReduce),
      By("ReduceProd", TranslateReduce),
      By("ReduceSum", TranslateReduce),
      By("ReduceSumSquare", TranslateReduce),
      By("BatchNormalization", TranslateBatchNormalization),
      By("GroupNormalization", TranslateGroupNormalization),
      By("Hardmax", TranslateHardmax),
      By("InstanceNormalization", TranslateInstanceNormalization),
      By("LRN", TranslateLrn),
      By("LayerNormalization", TranslateLayerNormalization),
      By("LogSoftmax", TranslateSoftmax),
      By("RMSNormalization", TranslateLayerNormalization),
      By("Softmax", TranslateSoftmax),
      // Elements at other places.
      By("Concat", TranslateConcat),
      By("DepthToSpace", TranslateDepthToSpace),
      By("Expand", TranslateExpand),
      By("Flatten", TranslateFlatten),
      By("Gather", TranslateGather),
      By("GatherElements", TranslateGatherElements),
      By("TensorScatter", TranslateTensorScatter),
      By("OneHot", TranslateOneHot),
      By("Pad", TranslatePad),
      By("Reshape", TranslateReshape),
      By("Resize", TranslateResize),
      By("Slice", TranslateSlice),
      By("SpaceToDepth", TranslateDepthToSpace),
      By("Split", TranslateSplit),
      By("Squeeze", TranslateSqueeze),
      By("Tile", TranslateTile),
      By("TopK", TranslateTopK),
      By("Transpose", TranslateTranspose),
      By("Trilu", TranslateTrilu),
      By("Unsqueeze", TranslateUnsqueeze),
      By("Upsample", TranslateResize),
      // Random numbers.
      By("Bernoulli", TranslateBernoulli),
      By("Dropout", TranslateDropout),
      By("Multinomial", TranslateMultinomial),
      By("RandomNormal", TranslateRandomNormal),
      By("RandomNormalLike", TranslateRandomNormal),
      By("RandomUniform", TranslateRandomUniform),
      By("RandomUniformLike", TranslateRandomUniform),
      // Known when planning.
      By("Constant", TranslateConstant),
      By("ConstantOfShape", TranslateConstantOfShape),
      By("EyeLike", TranslateEyeLike),
      By("Range", TranslateRange),
      By("Shape", TranslateShape),
      By("Size", TranslateSize),
  };
  return *kRows;
}

}  // namespace

const OperatorRow* FindRow(const std::string& op_type) {
  static const auto* const kIndex = [] {
    auto* index = new std::map<std::string, const OperatorRow*>;
    for (const OperatorRow& row : Rows()) (*index)[row.onnx] = &row;
    return index;
  }();
  const auto found = kIndex->find(op_type);
  return found == kIndex->end() ? nullptr : found->second;
}

bool ReadsShapeOnly(const std::string& op_type) {
  const OperatorRow* row = FindRow(op_type);
  return row != nullptr && (row->translate == TranslateShape || row->translate == TranslateSize);
}

std::vector<std::string> MappedOperators() {
  std::vector<std::string> names;
  for (const OperatorRow& row : Rows()) names.push_back(row.onnx);
  return names;
}

namespace {

// Before opset 7 an elementwise operator names the dimension at which its second operand begins.
void AlignSecondOperand(NodeContext& node, std::vector<int>& operands) {
  if (node.opset() >= 7 || operands.size() != 2 || node.failed()) return;
  const bool slopes = node.proto().op_type() == "PRelu" && node.Rank(operands[1]) == 1 &&
                      node.Rank(operands[0]) > 1;  // slopes for each channel, dimension 1
  if (!slopes && (node.Int("broadcast", 0) == 0 || !node.HasAttribute("axis"))) return;
  const int rank = node.Rank(operands[0]);
  const int axis = node.Axis(slopes ? 1 : node.Int("axis", 0), rank);
  if (node.failed()) return;
  std::vector<int64_t> dims = node.Dims(operands[1]);
  if (axis + static_cast<int>(dims.size()) > rank) return node.Fail("its operands do not align");
  dims.resize(rank - axis, 1);
  operands[1] = node.Reshape(operands[1], dims);
}

}  // namespace

void TranslateOneToOne(NodeContext& node, const std::string& entry, const Attributes& attributes) {
  std::vector<int> operands;
  for (int i = 0; i < node.InputCount(); ++i) operands.push_back(node.Optional(i));
  AlignSecondOperand(node, operands);
  const std::vector<int> outputs = node.EntryOutputs(entry, operands, attributes);
  for (size_t i = 0; i < outputs.size(); ++i) node.SetOutput(static_cast<int>(i), outputs[i]);
}

void TranslateNode(const OperatorRow& row, NodeContext& node) {
  if (row.translate != nullptr) return row.translate(node);
  Attributes attributes;
  for (const AttributeRow& attribute : row.attributes)
    attributes[attribute.entry] = node.Float(attribute.onnx, attribute.absent);
  TranslateOneToOne(node, row.entry, attributes);
}

}  // namespace yuba::onnx
