// Integers of few bits that stand for numbers: what makes them, what reads them, and products of
// them. Scales and zero points are of the whole tensor, of each position of a dimension, or of each
// block of so many elements of one.
#include <algorithm>

#include "compiler/import/file/read.h"
#include "compiler/import/translate/operators/products.h"
#include "compiler/import/translate/operators/translate.h"

namespace yuba::onnx {
namespace {

// What a node quantizes or dequantizes, in dimensions to which those of its scale are broadcast.
struct Scaled {
  int x = -1, scale = -1;
  int zero = -1;  // none: 0
};

bool IsByte(ElementType type) { return type == ElementType::kU8 || type == ElementType::kI8; }

int64_t Count(const Dims& dims) { return ElementCount(TensorType{ElementType::kBool, dims}); }

// A scale or zero point with dimensions of 1 behind it, so that it stands for dimension `axis`.
int AlongAxis(NodeContext& node, int value, int axis, int rank) {
  if (value < 0 || node.failed()) return value;
  Dims dims = {node.Dims(value)[0]};
  dims.resize(rank - axis, 1);
  return node.Reshape(value, dims);
}

// Dimension `axis` as blocks of `size`, each with one scale.
Scaled InBlocks(NodeContext& node, Scaled scaled, int axis, int64_t size) {
  const Dims dims = node.Dims(scaled.x), scales = node.Dims(scaled.scale);
  const bool whole = size > 0 && dims[axis] % size == 0;
  if (size > 0 && !whole) {
    node.Fail("its blocks of ", size, " do not make the ", dims[axis], " elements of dimension ",
              axis, ", which is not supported");
  }
  Dims expected = dims;
  if (whole) expected[axis] /= size;
  if (!whole || scales != expected) {
    node.Fail("its scale ", Extents(scales), " does not fit its operand ", Extents(dims),
              ": it must be one number, one for each position of dimension ", axis,
              ", or with 'block_size' one for each block of it");
  }
  if (node.failed()) return scaled;
  Dims blocks = expected, ones = expected;
  blocks.insert(blocks.begin() + axis + 1, size);
  ones.insert(ones.begin() + axis + 1, 1);
  scaled.x = node.Reshape(scaled.x, blocks);
  scaled.scale = node.Reshape(scaled.scale, ones);
  if (scaled.zero >= 0) scaled.zero = node.Reshape(scaled.zero, ones);
  return scaled;
}

// The operands of QuantizeLinear and DequantizeLinear.
Scaled ReadScaled(NodeContext& node) {
  Scaled scaled{node.Input(0), node.Input(1), node.Optional(2)};
  if (node.failed()) return scaled;
  const Dims scales = node.Dims(scaled.scale);
  const Dims zeros = scaled.zero < 0 ? scales : node.Dims(scaled.zero);
  const int rank = node.Rank(scaled.x);
  if (Count(scales) == 1 && scales.size() <= 1 && Count(zeros) == 1) {
    // ONNX Runtime's quantiser writes [1] beside [].
    scaled.scale = node.Reshape(scaled.scale, {});
    if (scaled.zero >= 0) scaled.zero = node.Reshape(scaled.zero, {});
    return scaled;
  }
  if (zeros != scales) {
    node.Fail("its scale ", Extents(scales), " and its zero point ", Extents(zeros),
              " must be of one shape");
  }
  const int axis = rank == 1 ? 0 : node.Axis(node.Int("axis", 1), rank);
  if (node.failed()) return scaled;
  if (scales != Dims{node.Dims(scaled.x)[axis]})
    return InBlocks(node, scaled, axis, node.Int("block_size", 0));
  scaled.scale = AlongAxis(node, scaled.scale, axis, rank);
  scaled.zero = AlongAxis(node, scaled.zero, axis, rank);
  return scaled;
}

// An attribute that names an element type; `absent` where it is not there or 0.
ElementType TypeIn(NodeContext& node, const char* attribute, ElementType absent) {
  const int64_t number = node.Int(attribute, 0);
  if (number == 0) return absent;
  const absl::StatusOr<ElementType> type = ElementTypeFromOnnx(number);
  node.Check(type.status());
  return type.ok() ? *type : absent;
}

// Rounding has no gradient. What PyTorch trains through it is an estimate that no node of the file
// asks for.
void RefuseTraining(NodeContext& node) {
  if (node.graph().trains)
    node.Fail("it rounds, so that no gradient passes: train the model of before it was quantized");
}

int Quantized(NodeContext& node, const Scaled& scaled, ElementType to) {
  if (!node.failed() && !IsByte(to))
    node.Fail("it makes ", Name(to), ", and only u8 and i8 are supported");
  RefuseTraining(node);
  return node.Entry("quantize", {scaled.x, scaled.scale, scaled.zero}, {{"to", to}});
}

// Integers as i32, without their zero point. A zero point of many numbers is one of each position
// of dimension `axis`, if it is a list.
int Centered(NodeContext& node, int value, int zero, int axis) {
  const int wide = node.Cast(value, ElementType::kI32);
  if (zero < 0 || node.failed()) return wide;
  if (node.Rank(zero) == 1) zero = AlongAxis(node, zero, axis, node.Rank(value));
  return node.Entry("sub", {wide, node.Cast(zero, ElementType::kI32)});
}

// The product of two scales, of rows and of columns, or of one number each; `channels` is the
// dimension of the result to which a list in `columns` belongs.
int ScaleOf(NodeContext& node, int rows, int columns, int row_axis, int channels, int rank) {
  if (node.failed()) return -1;
  if (node.Rank(rows) == 1) rows = AlongAxis(node, rows, row_axis, rank);
  if (node.Rank(columns) == 1) columns = AlongAxis(node, columns, channels, rank);
  return node.Cast(node.Entry("mul", {rows, columns}), ElementType::kF32);
}

// A sum of products of integers, times its scale, as the integers of the result.
int Requantized(NodeContext& node, int sums, int scale, int to_scale, int to_zero) {
  const int numbers = node.Entry("mul", {node.Cast(sums, ElementType::kF32), scale});
  if (node.failed()) return -1;
  if (Count(node.Dims(to_scale)) != 1 || Count(node.Dims(to_zero)) != 1)
    node.Fail("the scale and the zero point of its result must be one number each");
  const Scaled scaled{numbers, node.Cast(node.Reshape(to_scale, {}), ElementType::kF32),
                      node.Reshape(to_zero, {})};
  return node.failed() ? -1 : Quantized(node, scaled, node.ValueOf(to_zero).type);
}

}  // namespace

void TranslateQuantizeLinear(NodeContext& node) {
  Scaled scaled = ReadScaled(node);
  if (node.failed()) return;
  const Dims dims = node.Dims(node.Input(0));
  const ElementType by_zero = scaled.zero < 0 ? TypeIn(node, "output_dtype", ElementType::kU8)
                                              : node.ValueOf(scaled.zero).type;
  if (TypeIn(node, "output_dtype", by_zero) != by_zero)
    node.Fail("its zero point is ", Name(by_zero), ", and 'output_dtype' says another type");
  // The quotient is computed in the type of the scale.
  const ElementType precision = TypeIn(node, "precision", node.ValueOf(scaled.scale).type);
  scaled.x = node.Cast(scaled.x, precision);
  scaled.scale = node.Cast(scaled.scale, precision);
  const int y = Quantized(node, scaled, by_zero);
  if (!node.failed()) node.SetOutput(0, node.Reshape(y, dims));
}

void TranslateDequantizeLinear(NodeContext& node) {
  const Scaled scaled = ReadScaled(node);
  if (node.failed()) return;
  const Dims dims = node.Dims(node.Input(0));
  const ElementType type = TypeIn(node, "output_dtype", node.ValueOf(scaled.scale).type);
  const int y =
      node.Entry("dequantize", {scaled.x, node.Cast(scaled.scale, ElementType::kF32), scaled.zero});
  if (!node.failed()) node.SetOutput(0, node.Cast(node.Reshape(y, dims), type));
}

void TranslateDynamicQuantizeLinear(NodeContext& node) {
  const int x = node.Input(0);
  const std::vector<int> by = node.EntryOutputs("quantization_of", {x});
  node.SetOutput(0, Quantized(node, {x, by[0], by[1]}, ElementType::kU8));
  node.SetOutput(1, by[0]);
  node.SetOutput(2, by[1]);
}

void TranslateMatMulInteger(NodeContext& node) {
  const int a = node.Input(0), b = node.Input(1);
  if (node.failed()) return;
  const int rows = Centered(node, a, node.Optional(2), std::max(0, node.Rank(a) - 2));
  const int columns = Centered(node, b, node.Optional(3), node.Rank(b) - 1);
  node.SetOutput(0, MatMulOf(node, rows, columns));
}

void TranslateConvInteger(NodeContext& node) {
  const int x = Centered(node, node.Input(0), node.Optional(2), 0);
  const int filter = Centered(node, node.Input(1), node.Optional(3), 0);
  node.SetOutput(0, ConvOf(node, x, filter, -1));
}

void TranslateQLinearMatMul(NodeContext& node) {
  const int a = node.Input(0), b = node.Input(3);
  if (node.failed()) return;
  const int rows = Centered(node, a, node.Input(2), std::max(0, node.Rank(a) - 2));
  const int columns = Centered(node, b, node.Input(5), node.Rank(b) - 1);
  const int sums = MatMulOf(node, rows, columns);
  if (node.failed()) return;
  const int rank = node.Rank(sums);
  const int scale = ScaleOf(node, node.Input(1), node.Input(4), std::max(0, rank - 2),
                            std::max(0, rank - 1), rank);
  node.SetOutput(0, Requantized(node, sums, scale, node.Input(6), node.Input(7)));
}

void TranslateQLinearConv(NodeContext& node) {
  const int x = Centered(node, node.Input(0), node.Input(2), 0);
  const int filter = Centered(node, node.Input(3), node.Input(5), 0);
  const int sums = ConvOf(node, x, filter, node.Optional(8));
  if (node.failed()) return;
  const int scale = ScaleOf(node, node.Input(1), node.Input(4), 1, 1, node.Rank(sums));
  node.SetOutput(0, Requantized(node, sums, scale, node.Input(6), node.Input(7)));
}

}  // namespace yuba::onnx
