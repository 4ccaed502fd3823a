// Translations that are more than a name: the functions behind the rows of the table (table.h).
// Each reads one node through its NodeContext and sets the node's outputs; mistakes are recorded
// there. Where the meaning of an operator changed between opsets, the function asks node.opset().
#ifndef YUBA_COMPILER_IMPORT_TRANSLATE_OPERATORS_TRANSLATE_H_
#define YUBA_COMPILER_IMPORT_TRANSLATE_OPERATORS_TRANSLATE_H_

#include "compiler/import/translate/node.h"

namespace yuba::onnx {

// translate_constant.cc: constants, and shapes as values.
void TranslateConstant(NodeContext& node);
void TranslateConstantOfShape(NodeContext& node);
void TranslateShape(NodeContext& node);
void TranslateSize(NodeContext& node);
void TranslateRange(NodeContext& node);
void TranslateEyeLike(NodeContext& node);

// translate_shape.cc: views, and casts.
void TranslateReshape(NodeContext& node);
void TranslateFlatten(NodeContext& node);
void TranslateSqueeze(NodeContext& node);
void TranslateUnsqueeze(NodeContext& node);
void TranslateTranspose(NodeContext& node);
void TranslateExpand(NodeContext& node);
void TranslateTile(NodeContext& node);
void TranslateIdentity(NodeContext& node);
void TranslateCast(NodeContext& node);

// translate_random.cc: random numbers.
void TranslateRandomUniform(NodeContext& node);
void TranslateRandomNormal(NodeContext& node);
void TranslateBernoulli(NodeContext& node);
void TranslateMultinomial(NodeContext& node);
void TranslateDropout(NodeContext& node);

// translate_parts.cc: elements at other places.
void TranslateSplit(NodeContext& node);
void TranslateConcat(NodeContext& node);
void TranslateSlice(NodeContext& node);
void TranslateGather(NodeContext& node);
void TranslateGatherElements(NodeContext& node);
void TranslateReverseSequence(NodeContext& node);
void TranslateTensorScatter(NodeContext& node);
void TranslatePad(NodeContext& node);
void TranslateTrilu(NodeContext& node);
void TranslateOneHot(NodeContext& node);
void TranslateDepthToSpace(NodeContext& node);

// translate_resize.cc
void TranslateResize(NodeContext& node);

// translate_sample.cc
void TranslateGridSample(NodeContext& node);

// translate_loss.cc: losses.
void TranslateNegativeLogLikelihood(NodeContext& node);
void TranslateSoftmaxCrossEntropy(NodeContext& node);

// translate_scatter.cc: places that integers name.
void TranslateGatherNd(NodeContext& node);
void TranslateScatterNd(NodeContext& node);
void TranslateScatterElements(NodeContext& node);

// translate_window.cc: windows that slide.
void TranslateConv(NodeContext& node);
void TranslateConvTranspose(NodeContext& node);
void TranslateMaxPool(NodeContext& node);
void TranslateAveragePool(NodeContext& node);

// translate_attention.cc
void TranslateAttention(NodeContext& node);
void TranslateWhere(NodeContext& node);
void TranslateRotaryEmbedding(NodeContext& node);

// translate_recurrent.cc
void TranslateRecurrent(NodeContext& node);

// translate_math.cc: arithmetic.
void TranslateMatMul(NodeContext& node);
void TranslateGemm(NodeContext& node);
void TranslateEinsum(NodeContext& node);
void TranslatePow(NodeContext& node);
void TranslateMod(NodeContext& node);
void TranslateClip(NodeContext& node);
void TranslateIsInf(NodeContext& node);
void TranslateGelu(NodeContext& node);
void TranslateSum(NodeContext& node);
void TranslateMean(NodeContext& node);
void TranslateMax(NodeContext& node);
void TranslateMin(NodeContext& node);

// translate_quantize.cc: integers that stand for numbers.
void TranslateQuantizeLinear(NodeContext& node);
void TranslateDequantizeLinear(NodeContext& node);
void TranslateDynamicQuantizeLinear(NodeContext& node);
void TranslateMatMulInteger(NodeContext& node);
void TranslateConvInteger(NodeContext& node);
void TranslateQLinearMatMul(NodeContext& node);
void TranslateQLinearConv(NodeContext& node);

// translate_reduce.cc: reductions, and what is made of them.
void TranslateReduce(NodeContext& node);
void TranslateReduceLogSumExp(NodeContext& node);
void TranslateArg(NodeContext& node);
void TranslateCumSum(NodeContext& node);
void TranslateSoftmax(NodeContext& node);
void TranslateHardmax(NodeContext& node);

// translate_normalize.cc: normalizations.
void TranslateBatchNormalization(NodeContext& node);
void TranslateLayerNormalization(NodeContext& node);
void TranslateInstanceNormalization(NodeContext& node);
void TranslateGroupNormalization(NodeContext& node);
void TranslateLrn(NodeContext& node);

// translate_control.cc: nodes with nodes inside.
void TranslateIf(NodeContext& node);
void TranslateLoop(NodeContext& node);
void TranslateScan(NodeContext& node);
void TranslateSequenceMap(NodeContext& node);

// translate_sequence.cc: sequences of tensors.
void TranslateSequenceEmpty(NodeContext& node);
void TranslateSequenceConstruct(NodeContext& node);
void TranslateSequenceInsert(NodeContext& node);
void TranslateSequenceErase(NodeContext& node);
void TranslateSequenceAt(NodeContext& node);
void TranslateSequenceLength(NodeContext& node);
void TranslateSplitToSequence(NodeContext& node);
void TranslateConcatFromSequence(NodeContext& node);

// translate_sort.cc: what depends on the order of elements.
void TranslateTopK(NodeContext& node);

}  // namespace yuba::onnx

#endif  // YUBA_COMPILER_IMPORT_TRANSLATE_OPERATORS_TRANSLATE_H_
