// Constants, and shapes as values.
#include <algorithm>
#include <cmath>

#include "compiler/import/file/read.h"
#include "compiler/import/templates/templates.h"
#include "compiler/import/translate/operators/translate.h"
#include "compiler/simplify/constants.h"
#include "opsemantics/base/check.h"

namespace yuba::onnx {
namespace {

void SetTensor(NodeContext& node, const ::onnx::TensorProto& tensor) {
  absl::StatusOr<TensorData> value = ReadTensor(tensor, node.folder());
  if (!value.ok()) return node.Check(value.status());
  if (const ValueAtBatch* other = node.AtBatch(0); other != nullptr && other->data != nullptr)
    return node.SetOutput(0, node.Stored(value->type, other->dims, other->data));
  node.SetOutput(0, node.Stored(value->type, value->dims,
                                std::make_shared<const std::string>(std::move(value->data))));
}

int64_t Size(const std::vector<double>& values) { return static_cast<int64_t>(values.size()); }

}  // namespace

void TranslateConstant(NodeContext& node) {
  if (const ::onnx::AttributeProto* value = node.Find("value")) {
    if (!value->has_t()) return node.Fail("attribute 'value' must be a tensor");
    return SetTensor(node, value->t());
  }
  if (node.HasAttribute("value_float")) {
    return node.SetOutput(0,
                          node.Constant(compiler::FloatValue({}, {node.Float("value_float", 0)})));
  }
  if (node.HasAttribute("value_floats")) {
    const std::vector<double> values = node.Floats("value_floats");
    return node.SetOutput(0, node.Constant(compiler::FloatValue({Size(values)}, values)));
  }
  if (node.HasAttribute("value_int"))
    return node.SetOutput(0, node.Constant(compiler::IntegerValue({}, {node.Int("value_int", 0)})));
  if (node.HasAttribute("value_ints")) {
    const std::vector<int64_t> values = node.Ints("value_ints");
    return node.SetOutput(
        0, node.Constant(compiler::IntegerValue({static_cast<int64_t>(values.size())}, values)));
  }
  node.Fail("its value is a string, a sparse tensor or absent, which is not supported");
}

void TranslateConstantOfShape(NodeContext& node) {
  const int shape = node.Input(0);
  const Dims dims = node.DimsAtBatch(0, node.KnownInts(shape, "shape"));
  TensorData element{ElementType::kF32, {1}, std::string(4, '\0')};
  if (const ::onnx::AttributeProto* value = node.Find("value")) {
    const absl::StatusOr<TensorData> bytes = ReadTensor(value->t(), node.folder());
    if (!bytes.ok()) return node.Check(bytes.status());
    element = *bytes;
  }
  const absl::StatusOr<int64_t> elements = ElementsOf(dims);
  if (!elements.ok()) return node.Check(elements.status());
  if (node.failed()) return;
  if (static_cast<int64_t>(element.data.size()) != ByteSize(element.type))
    return node.Fail("attribute 'value' must be a tensor of one element");
  // Files without weights write a weight as a fill of a stored shape: it becomes a parameter.
  if (node.ValueOf(shape).stored && IsFloat(element.type) && *elements > 1) {
    return node.SetOutput(
        0, node.Fill(element.type, dims, std::make_shared<const std::string>(element.data)));
  }
  const int scalar = node.Constant(compiler::ValueFromBytes(element.type, {}, element.data));
  node.SetOutput(0, node.Write(ExpandTemplate({}, dims), {scalar}));
}

void TranslateShape(NodeContext& node) {
  const Dims& dims = node.Dims(node.Input(0));
  const int64_t rank = static_cast<int64_t>(dims.size());
  const auto clamp = [rank](int64_t at) {
    return std::min(std::max<int64_t>(at < 0 ? at + rank : at, 0), rank);
  };
  const int64_t start = clamp(node.Int("start", 0));
  const int64_t end = std::max(start, clamp(node.Int("end", rank)));
  if (node.failed()) return;
  const Dims part(dims.begin() + start, dims.begin() + end);
  const TensorValue sizes = compiler::IntegerValue({end - start}, part);
  node.SetOutput(0, node.Sizes(node.Input(0), static_cast<int>(start), sizes));
}

void TranslateSize(NodeContext& node) {
  int64_t elements = 1;
  for (const int64_t dim : node.Dims(node.Input(0))) elements *= dim;
  if (!node.failed()) node.SetOutput(0, node.Constant(compiler::IntegerValue({}, {elements})));
}

namespace {

// By how many elements a Range is longer for each row of the caches. Its step must not change.
int64_t RangeGrows(const NodeContext& node, int start, int limit, int step) {
  const auto fewer = [&](int value) {
    const OnnxValue& of = node.ValueOf(value);
    const Scalar& scalar = (of.one_row_fewer ? of.one_row_fewer : of.known)->elements[0];
    return IsFloat(of.type) ? scalar.number : static_cast<double>(scalar.integer);
  };
  const auto full = [&](int value) {
    const Scalar& scalar = node.ValueOf(value).known->elements[0];
    return IsFloat(node.ValueOf(value).type) ? scalar.number : static_cast<double>(scalar.integer);
  };
  return static_cast<int64_t>(std::ceil((full(limit) - full(start)) / full(step)) -
                              std::ceil((fewer(limit) - fewer(start)) / fewer(step)));
}

}  // namespace

void TranslateRange(NodeContext& node) {
  const int start = node.Input(0), limit = node.Input(1), step = node.Input(2);
  if (node.failed()) return;
  const ElementType type = node.ValueOf(start).type;
  double numbers[3];
  int k = 0;
  for (const int value : {start, limit, step}) {
    const OnnxValue& operand = node.ValueOf(value);
    if (operand.known == nullptr || operand.known->elements.size() != 1 || operand.type != type) {
      return node.Fail(
          "its start, limit and step must be scalars of one type that are known when "
          "planning");
    }
    const Scalar& scalar = operand.known->elements[0];
    numbers[k++] = IsFloat(type) ? scalar.number : static_cast<double>(scalar.integer);
  }
  const double length = std::ceil((numbers[1] - numbers[0]) / numbers[2]);
  if (!(length < 1e15)) return node.Fail("its step is 0, or it is too long");
  if (!node.MayBeLength(static_cast<int64_t>(length), RangeGrows(node, start, limit, step))) return;
  if (node.Int("stash_type", ::onnx::TensorProto::FLOAT) != ::onnx::TensorProto::FLOAT)
    return node.Fail("attribute 'stash_type' is another than 1, which is not supported");
  // Half floats are added up as f32.
  const ElementType wide = AccumulatorType(type);
  const int from = node.Cast(node.Reshape(start, {}), wide);
  const int by = node.Cast(node.Reshape(step, {}), wide);
  const std::string name = Name(wide);
  OpTemplate op_template;
  op_template.text =
      absl::StrCat("op range(start[], step[]) -> y[", static_cast<int64_t>(std::max(length, 0.0)),
                   "]\n  y[i] = start[] + ",
                   type == ElementType::kI64 ? "i" : "cast(i, " + name + ")", " * step[]\n");
  node.SetOutput(0, node.Cast(node.Write(op_template, {from, by}), type));
}

void TranslateEyeLike(NodeContext& node) {
  const int x = node.Input(0);
  const int64_t k = node.Int("k", 0);
  ElementType type = node.ValueOf(x).type;
  if (node.HasAttribute("dtype")) {
    const absl::StatusOr<ElementType> given = ElementTypeFromOnnx(node.Int("dtype", 1));
    if (!given.ok()) return node.Check(given.status());
    type = *given;
  }
  if (node.Rank(x) != 2) return node.Fail("its operand must be a matrix");
  OpTemplate op_template;
  op_template.text = absl::StrCat("op eye(one[], zero[]) -> y", Extents(node.Dims(x)),
                                  "\n  y[i, j] = if i + ", k, " == j then one[] else zero[]\n");
  node.SetOutput(0, node.Write(op_template, {node.Literal(type, 1), node.Literal(type, 0)}));
}

}  // namespace yuba::onnx
