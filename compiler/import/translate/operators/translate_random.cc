// Operators that draw random numbers.
#include <cstdint>
#include <cstring>

#include "compiler/import/file/read.h"
#include "compiler/import/translate/operators/translate.h"

namespace yuba::onnx {
namespace {

using Dims = std::vector<int64_t>;

// The node's own seed as the number that `rand` takes: the bits of a float, the low bits of an
// integer; 0 where there is none.
int64_t SeedOf(NodeContext& node) {
  const ::onnx::AttributeProto* attribute = node.Find("seed");
  if (attribute != nullptr && attribute->has_i()) return static_cast<uint32_t>(attribute->i());
  const auto seed = static_cast<float>(node.Float("seed", 0));
  uint32_t bits = 0;
  std::memcpy(&bits, &seed, sizeof bits);
  return bits;
}

// The type that the attribute `dtype` names, else `absent`.
ElementType TypeOf(NodeContext& node, ElementType absent) {
  if (!node.HasAttribute("dtype")) return absent;
  const absl::StatusOr<ElementType> type = ElementTypeFromOnnx(node.Int("dtype", 0));
  node.Check(type.status());
  return type.ok() ? *type : absent;
}

// The shape and the type of what the node makes up: those of its operand where it has one.
void AddShape(NodeContext& node, Attributes& attributes) {
  Dims dims = node.Ints("shape");
  ElementType type = ElementType::kF32;
  if (node.InputCount() > 0) {
    const int like = node.Input(0);
    dims = node.Dims(like);
    type = node.ValueOf(like).type;
  } else if (!node.HasAttribute("shape")) {
    node.Fail("attribute 'shape' is missing");
  }
  for (const int64_t dim : dims) {
    if (dim < 0) node.Fail("its shape has the dimension ", dim);
  }
  node.Check(ElementsOf(dims).status());
  attributes["s"] = dims;
  attributes["to"] = TypeOf(node, type);
}

}  // namespace

void TranslateRandomUniform(NodeContext& node) {
  Attributes attributes = {
      {"low", node.Float("low", 0)}, {"high", node.Float("high", 1)}, {"seed", SeedOf(node)}};
  AddShape(node, attributes);
  node.SetOutput(0, node.Entry("random_uniform", {}, attributes));
}

void TranslateRandomNormal(NodeContext& node) {
  Attributes attributes = {
      {"mean", node.Float("mean", 0)}, {"scale", node.Float("scale", 1)}, {"seed", SeedOf(node)}};
  AddShape(node, attributes);
  node.SetOutput(0, node.Entry("random_normal", {}, attributes));
}

void TranslateBernoulli(NodeContext& node) {
  const int p = node.Input(0);
  const ElementType type = TypeOf(node, node.ValueOf(p).type);
  node.SetOutput(0, node.Entry("bernoulli", {p}, {{"seed", SeedOf(node)}, {"to", type}}));
}

void TranslateMultinomial(NodeContext& node) {
  const int x = node.Input(0);
  const int64_t samples = node.Int("sample_size", 1);
  if (samples < 0) node.Fail("attribute 'sample_size' is ", samples);
  const ElementType type = TypeOf(node, ElementType::kI32);
  node.SetOutput(
      0, node.Entry("multinomial", {x}, {{"k", samples}, {"seed", SeedOf(node)}, {"to", type}}));
}

namespace {

// Nothing is dropped, and the mask is all true.
void DropNothing(NodeContext& node, int x) {
  node.SetOutput(0, x);
  if (!node.HasOutput(1) || node.failed()) return;
  const int kept = node.Literal(ElementType::kBool, 1);
  node.SetOutput(1, node.Write(ExpandTemplate({}, node.Dims(x)), {kept}));
}

int AsScalar(NodeContext& node, int value) {
  return value < 0 || node.Rank(value) == 0 ? value : node.Reshape(value, {});
}

// Of opset 7 to 11: `training` is no operand, and the text has "test mode or not" decide, which a
// file does not say. A step that trains is no test.
void TranslateOldDropout(NodeContext& node, int x) {
  const double rate = node.Float("ratio", 0.5);
  if (!node.graph().trains || rate == 0) return DropNothing(node, x);
  const int ratio = node.Literal(node.ValueOf(x).type, rate);
  const std::vector<int> outputs =
      node.EntryOutputs("dropout", {x, ratio, -1}, {{"seed", SeedOf(node)}});
  for (int i = 0; i < 2; ++i) node.SetOutput(i, outputs[i]);
}

}  // namespace

void TranslateDropout(NodeContext& node) {
  const int x = node.Input(0);
  if (node.opset() < 7) {
    if (node.Int("is_test", 0) != 0) return DropNothing(node, x);
    return node.Fail("is_test = 0, as before opset 7 where nothing is said, means training, which ",
                     "is not supported there: convert the model (onnx.version_converter)");
  }
  if (node.graph().evaluates) return DropNothing(node, x);
  if (node.opset() < 12) return TranslateOldDropout(node, x);
  const int training = node.Optional(2);
  const OnnxValue& mode = node.ValueOf(training);
  const bool known = training < 0 || mode.known != nullptr;
  if (known && mode.known != nullptr && mode.known->elements.size() != 1)
    return node.Fail("its training mode must be a scalar");
  if (known && (training < 0 || mode.known->elements[0].integer == 0)) return DropNothing(node, x);
  int ratio = AsScalar(node, node.Optional(1));
  if (ratio >= 0) ratio = node.Cast(ratio, node.ValueOf(x).type);
  const std::vector<int> outputs = node.EntryOutputs(
      "dropout", {x, ratio, known ? -1 : AsScalar(node, training)}, {{"seed", SeedOf(node)}});
  for (int i = 0; i < 2; ++i) node.SetOutput(i, outputs[i]);
}

}  // namespace yuba::onnx
