#include "compiler/import/translate/table.h"

#include <algorithm>
#include <iterator>
#include <map>

#include "compiler/import/translate/operators/translate.h"

namespace yuba::onnx {
namespace {

// `newest` is the newest version of the operator that its translation was read for, as far as it
// changed more than element types; `reads` are the attributes that the translation reads, or that
// have no effect on what is supported. Others are errors where they are not at their defaults.
using Names = std::vector<std::string>;

OperatorRow Same(const char* onnx, int64_t newest, const char* entry,
                 std::vector<AttributeRow> attributes = {}) {
  return {onnx, newest, entry, nullptr, std::move(attributes), {}};
}
// Before opset 7 two attributes say how the operands align.
OperatorRow Aligned(const char* onnx, int64_t newest, const char* entry) {
  return {onnx, newest, entry, nullptr, {}, {"axis", "broadcast"}};
}
OperatorRow By(const char* onnx, int64_t newest, Translate translate, Names reads = {}) {
  return {onnx, newest, nullptr, translate, {}, std::move(reads)};
}

// Every operator of ONNX that is understood.
const std::vector<OperatorRow>& Rows() {
  static const auto* const kRows = new std::vector<OperatorRow>{
      // Elementwise, one operand.
      Same("Abs", 13, "abs"),
      Same("Ceil", 13, "ceil"),
      Same("Cos", 7, "cos"),
      Same("Cosh", 9, "cosh"),
      Same("Erf", 9, "erf"),
      Same("Exp", 6, "exp"),
      Same("Floor", 13, "floor"),
      Same("HardSwish", 14, "hard_swish"),
      Same("IsNaN", 9, "is_nan"),
      Same("Log", 6, "log"),
      Same("Mish", 18, "mish"),
      Same("Neg", 6, "neg"),
      Same("Not", 1, "not"),
      Same("Reciprocal", 6, "reciprocal"),
      Same("Relu", 6, "relu"),
      Same("Round", 11, "round"),
      Same("Sigmoid", 6, "sigmoid"),
      Same("Sign", 9, "sign"),
      Same("Sin", 7, "sin"),
      Same("Sinh", 9, "sinh"),
      Same("Softplus", 1, "softplus"),
      Same("Softsign", 1, "softsign"),
      Same("Sqrt", 6, "sqrt"),
      Same("Tan", 7, "tan"),
      Same("Tanh", 6, "tanh"),
      Same("Celu", 12, "celu", {{"alpha", "alpha", 1}}),
      Same("Elu", 6, "elu", {{"alpha", "alpha", 1}}),
      Same("HardSigmoid", 6, "hard_sigmoid", {{"alpha", "alpha", 0.2}, {"beta", "beta", 0.5}}),
      Same("LeakyRelu", 6, "leaky_relu", {{"alpha", "alpha", 0.01}}),
      Same("Selu", 6, "selu",
           {{"alpha", "alpha", 1.67326319217681884765625},
            {"gamma", "gamma", 1.05070102214813232421875}}),
      Same("Shrink", 9, "shrink", {{"lambd", "lambd", 0.5}, {"bias", "bias", 0}}),
      Same("Swish", 24, "swish", {{"alpha", "alpha", 1}}),
      Same("ThresholdedRelu", 10, "thresholded_relu", {{"alpha", "alpha", 1}}),
      By("Cast", 24, TranslateCast, {"round_mode", "saturate", "to"}),
      By("CastLike", 24, TranslateCast, {"round_mode", "saturate"}),
      By("Clip", 13, TranslateClip, {"max", "min"}),
      By("Gelu", 20, TranslateGelu, {"approximate"}),
      By("Identity", 1, TranslateIdentity),
      By("IsInf", 10, TranslateIsInf, {"detect_negative", "detect_positive"}),
      // Elementwise, several operands.
      Aligned("Add", 14, "add"),
      Aligned("And", 7, "and"),
      Aligned("Div", 14, "div"),
      Aligned("Equal", 7, "equal"),
      Aligned("Greater", 7, "greater"),
      Same("GreaterOrEqual", 12, "greater_equal"),
      Aligned("Less", 7, "less"),
      Same("LessOrEqual", 12, "less_equal"),
      Aligned("Mul", 14, "mul"),
      Aligned("Or", 7, "or"),
      Same("PRelu", 7, "prelu"),
      Aligned("Sub", 14, "sub"),
      By("Where", 9, TranslateWhere),
      Aligned("Xor", 7, "xor"),
      By("Max", 8, TranslateMax),
      By("Mean", 8, TranslateMean),
      By("Min", 8, TranslateMin),
      By("Mod", 28, TranslateMod, {"fmod"}),
      By("Pow", 13, TranslatePow),
      By("Sum", 8, TranslateSum),
      // Products and windows.
      By("Attention", 25, TranslateAttention,
         {"is_causal", "kv_num_heads", "q_num_heads", "qk_matmul_output_mode", "scale", "softcap",
          "softmax_precision"}),
      By("AveragePool", 22, TranslateAveragePool,
         {"auto_pad", "ceil_mode", "count_include_pad", "dilations", "kernel_shape", "pads",
          "strides"}),
      By("Conv", 11, TranslateConv,
         {"auto_pad", "dilations", "group", "kernel_shape", "pads", "strides"}),
      By("ConvTranspose", 11, TranslateConvTranspose,
         {"auto_pad", "dilations", "group", "kernel_shape", "output_padding", "output_shape",
          "pads", "strides"}),
      By("Einsum", 12, TranslateEinsum, {"equation"}),
      By("Gemm", 13, TranslateGemm, {"alpha", "beta", "broadcast", "transA", "transB"}),
      By("GRU", 14, TranslateRecurrent,
         {"activation_alpha", "activation_beta", "activations", "clip", "direction", "hidden_size",
          "layout", "linear_before_reset"}),
      By("LSTM", 22, TranslateRecurrent,
         {"activation_alpha", "activation_beta", "activations", "clip", "direction", "hidden_size",
          "input_forget", "layout"}),
      By("MatMul", 1, TranslateMatMul),
      By("MaxPool", 22, TranslateMaxPool,
         {"auto_pad", "ceil_mode", "dilations", "kernel_shape", "pads", "storage_order",
          "strides"}),
      By("RNN", 14, TranslateRecurrent,
         {"activation_alpha", "activation_beta", "activations", "clip", "direction", "hidden_size",
          "layout"}),
      By("RotaryEmbedding", 23, TranslateRotaryEmbedding,
         {"interleaved", "num_heads", "rotary_embedding_dim"}),
      Same("GlobalAveragePool", 1, "global_average_pool"),
      Same("GlobalMaxPool", 1, "global_max_pool"),
      // Integers that stand for numbers.
      By("ConvInteger", 10, TranslateConvInteger,
         {"auto_pad", "dilations", "group", "kernel_shape", "pads", "strides"}),
      By("DequantizeLinear", 23, TranslateDequantizeLinear, {"axis", "block_size", "output_dtype"}),
      By("DynamicQuantizeLinear", 11, TranslateDynamicQuantizeLinear),
      By("MatMulInteger", 10, TranslateMatMulInteger),
      By("QLinearConv", 10, TranslateQLinearConv,
         {"auto_pad", "dilations", "group", "kernel_shape", "pads", "strides"}),
      By("QLinearMatMul", 10, TranslateQLinearMatMul),
      By("QuantizeLinear", 28, TranslateQuantizeLinear,
         {"axis", "block_size", "output_dtype", "precision", "saturate"}),
      // Reductions and normalizations.
      By("ArgMax", 13, TranslateArg, {"axis", "keepdims", "select_last_index"}),
      By("ArgMin", 13, TranslateArg, {"axis", "keepdims", "select_last_index"}),
      By("CumSum", 11, TranslateCumSum, {"exclusive", "reverse"}),
      By("ReduceL1", 18, TranslateReduce, {"axes", "keepdims", "noop_with_empty_axes"}),
      By("ReduceL2", 18, TranslateReduce, {"axes", "keepdims", "noop_with_empty_axes"}),
      By("ReduceLogSum", 18, TranslateReduce, {"axes", "keepdims", "noop_with_empty_axes"}),
      By("ReduceLogSumExp", 18, TranslateReduceLogSumExp,
         {"axes", "keepdims", "noop_with_empty_axes"}),
      By("ReduceMax", 20, TranslateReduce, {"axes", "keepdims", "noop_with_empty_axes"}),
      By("ReduceMean", 18, TranslateReduce, {"axes", "keepdims", "noop_with_empty_axes"}),
      By("ReduceMin", 20, TranslateReduce, {"axes", "keepdims", "noop_with_empty_axes"}),
      By("ReduceProd", 18, TranslateReduce, {"axes", "keepdims", "noop_with_empty_axes"}),
      By("ReduceSum", 13, TranslateReduce, {"axes", "keepdims", "noop_with_empty_axes"}),
      By("ReduceSumSquare", 18, TranslateReduce, {"axes", "keepdims", "noop_with_empty_axes"}),
      By("BatchNormalization", 15, TranslateBatchNormalization,
         {"epsilon", "is_test", "momentum", "spatial", "training_mode"}),
      By("GroupNormalization", 21, TranslateGroupNormalization,
         {"epsilon", "num_groups", "stash_type"}),
      By("Hardmax", 13, TranslateHardmax, {"axis"}),
      By("InstanceNormalization", 6, TranslateInstanceNormalization, {"epsilon"}),
      By("LRN", 13, TranslateLrn, {"alpha", "beta", "bias", "size"}),
      By("LayerNormalization", 17, TranslateLayerNormalization, {"axis", "epsilon", "stash_type"}),
      By("LogSoftmax", 13, TranslateSoftmax, {"axis"}),
      By("NegativeLogLikelihoodLoss", 13, TranslateNegativeLogLikelihood,
         {"ignore_index", "reduction"}),
      By("RMSNormalization", 23, TranslateLayerNormalization, {"axis", "epsilon", "stash_type"}),
      By("Softmax", 13, TranslateSoftmax, {"axis"}),
      By("SoftmaxCrossEntropyLoss", 13, TranslateSoftmaxCrossEntropy,
         {"ignore_index", "reduction"}),
      // Elements at other places.
      By("Concat", 11, TranslateConcat, {"axis"}),
      By("DepthToSpace", 13, TranslateDepthToSpace, {"blocksize", "mode"}),
      By("Expand", 8, TranslateExpand),
      By("Flatten", 11, TranslateFlatten, {"axis"}),
      By("Gather", 13, TranslateGather, {"axis"}),
      By("GatherElements", 13, TranslateGatherElements, {"axis"}),
      By("GatherND", 13, TranslateGatherNd, {"batch_dims"}),
      By("TensorScatter", 24, TranslateTensorScatter, {"axis", "mode"}),
      By("GridSample", 20, TranslateGridSample, {"align_corners", "mode", "padding_mode"}),
      By("OneHot", 11, TranslateOneHot, {"axis"}),
      By("Pad", 19, TranslatePad, {"mode", "pads", "value"}),
      By("Reshape", 14, TranslateReshape, {"allowzero"}),
      By("Resize", 19, TranslateResize,
         {"antialias", "axes", "coordinate_transformation_mode", "cubic_coeff_a", "exclude_outside",
          "extrapolation_value", "keep_aspect_ratio_policy", "mode", "nearest_mode"}),
      By("ReverseSequence", 10, TranslateReverseSequence, {"batch_axis", "time_axis"}),
      By("Scatter", 11, TranslateScatterElements, {"axis"}),
      By("ScatterElements", 18, TranslateScatterElements, {"axis", "reduction"}),
      By("ScatterND", 18, TranslateScatterNd, {"reduction"}),
      By("Slice", 13, TranslateSlice, {"axes", "ends", "starts"}),
      By("SpaceToDepth", 28, TranslateDepthToSpace, {"blocksize", "mode"}),
      By("Split", 18, TranslateSplit, {"axis", "num_outputs", "split"}),
      By("Squeeze", 23, TranslateSqueeze, {"axes"}),
      By("Tile", 6, TranslateTile),
      By("TopK", 11, TranslateTopK, {"axis", "k", "largest", "sorted"}),
      By("Transpose", 25, TranslateTranspose, {"perm"}),
      By("Trilu", 14, TranslateTrilu, {"upper"}),
      By("Unsqueeze", 23, TranslateUnsqueeze, {"axes"}),
      By("Upsample", 9, TranslateResize, {"mode", "scales"}),
      // Random numbers.
      By("Bernoulli", 15, TranslateBernoulli, {"dtype", "seed"}),
      By("Dropout", 22, TranslateDropout, {"is_test", "ratio", "seed"}),
      By("Multinomial", 7, TranslateMultinomial, {"dtype", "sample_size", "seed"}),
      By("RandomNormal", 1, TranslateRandomNormal, {"dtype", "mean", "scale", "seed", "shape"}),
      By("RandomNormalLike", 1, TranslateRandomNormal, {"dtype", "mean", "scale", "seed"}),
      By("RandomUniform", 1, TranslateRandomUniform, {"dtype", "high", "low", "seed", "shape"}),
      By("RandomUniformLike", 1, TranslateRandomUniform, {"dtype", "high", "low", "seed"}),
      // Sequences of tensors, and nodes with nodes inside: known when planning.
      By("ConcatFromSequence", 11, TranslateConcatFromSequence, {"axis", "new_axis"}),
      By("SequenceAt", 11, TranslateSequenceAt),
      By("SequenceConstruct", 11, TranslateSequenceConstruct),
      By("SequenceEmpty", 11, TranslateSequenceEmpty, {"dtype"}),
      By("SequenceErase", 11, TranslateSequenceErase),
      By("SequenceInsert", 11, TranslateSequenceInsert),
      By("SequenceLength", 11, TranslateSequenceLength),
      By("SplitToSequence", 11, TranslateSplitToSequence, {"axis", "keepdims"}),
      By("If", 11, TranslateIf, {"else_branch", "then_branch"}),
      By("Loop", 16, TranslateLoop, {"body"}),
      By("Scan", 11, TranslateScan,
         {"body", "num_scan_inputs", "scan_input_axes", "scan_input_directions", "scan_output_axes",
          "scan_output_directions"}),
      By("SequenceMap", 17, TranslateSequenceMap, {"body"}),
      // Known when planning.
      By("Constant", 12, TranslateConstant,
         {"value", "value_float", "value_floats", "value_int", "value_ints"}),
      By("ConstantOfShape", 9, TranslateConstantOfShape, {"value"}),
      By("EyeLike", 22, TranslateEyeLike, {"dtype", "k"}),
      By("Range", 27, TranslateRange, {"stash_type"}),
      By("Shape", 15, TranslateShape, {"end", "start"}),
      By("Size", 1, TranslateSize),
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
  return row != nullptr && (row->translate == TranslateShape || row->translate == TranslateSize ||
                            row->translate == TranslateSequenceLength);
}

bool TakesSequences(const std::string& op_type) {
  const OperatorRow* row = FindRow(op_type);
  if (row == nullptr) return false;
  constexpr Translate kTakers[] = {TranslateConcatFromSequence,
                                   TranslateIdentity,
                                   TranslateLoop,
                                   TranslateScan,
                                   TranslateSequenceAt,
                                   TranslateSequenceErase,
                                   TranslateSequenceInsert,
                                   TranslateSequenceMap,
                                   TranslateSequenceLength};
  return std::count(std::begin(kTakers), std::end(kTakers), row->translate) > 0;
}

int KnownOperands(const std::string& op_type) {
  const OperatorRow* row = FindRow(op_type);
  if (row == nullptr) return 0;
  return row->translate == TranslateIf ? 1 : row->translate == TranslateLoop ? 2 : 0;
}

std::vector<std::string> MappedOperators() {
  std::vector<std::string> names;
  for (const OperatorRow& row : Rows()) names.push_back(row.onnx);
  return names;
}

}  // namespace yuba::onnx
