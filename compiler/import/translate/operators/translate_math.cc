// Arithmetic whose operands or attributes do not correspond to an entry one to one: sums of many
// operands, products of matrices, powers, clips.
#include <cmath>

#include "compiler/import/templates/templates.h"
#include "compiler/import/translate/operators/products.h"
#include "compiler/import/translate/operators/translate.h"

namespace yuba::onnx {
namespace {

// Combines any number of operands by an entry of two operands, one after the other; with `mean`
// divided by their number at the end.
void TranslateChain(NodeContext& node, const char* entry, bool mean) {
  const std::vector<int> operands = node.AllInputs();
  if (operands.empty()) node.Fail("it has no operands");
  if (node.failed()) return;
  int result = operands[0];
  for (size_t k = 1; k < operands.size() && !node.failed(); ++k)
    result = node.Entry(entry, {result, operands[k]});
  if (mean && !node.failed()) {
    const int count = node.Literal(node.ValueOf(result).type, static_cast<double>(operands.size()));
    result = node.Entry("div", {result, count});
  }
  node.SetOutput(0, result);
}

// Max and Min of an operand and a number of the file, as PyTorch's exporter writes a clamp and a
// maximum: the values are those of `maximum` and `minimum`, but at equality a clamp has another
// gradient, and so has a chain beside a literal. Where the file does not say which it was, the
// number behind the operand is a bound.
bool TranslateWithNumber(NodeContext& node, bool greater,
                         const std::vector<std::string>& functions) {
  if (node.InputCount() != 2) return false;
  int x = node.Input(0), number = node.Input(1);
  const auto is_number = [&](int value) {
    return node.Dims(value).empty() && (node.IsKnown(value) || node.ValueOf(value).stored);
  };
  if (node.failed()) return false;
  const bool either = node.MadeOf(functions);
  if (either && !is_number(number)) std::swap(x, number);
  if (!is_number(number) || !IsFloat(node.ValueOf(x).type)) return false;
  const char* const entry = either    ? (greater ? "maximum_with" : "minimum_with")
                            : greater ? "at_least"
                                      : "at_most";
  node.SetOutput(0, node.Entry(entry, {x, number}));
  return true;
}

}  // namespace

void TranslateSum(NodeContext& node) { TranslateChain(node, "add", false); }
void TranslateMean(NodeContext& node) { TranslateChain(node, "add", true); }
void TranslateMax(NodeContext& node) {
  const bool done = TranslateWithNumber(node, true, {"aten.maximum", "aten.max"});
  if (!done) TranslateChain(node, "maximum", false);
}
void TranslateMin(NodeContext& node) {
  const bool done = TranslateWithNumber(node, false, {"aten.minimum", "aten.min"});
  if (!done) TranslateChain(node, "minimum", false);
}

int MatMulOf(NodeContext& node, int a, int b) {
  if (node.failed()) return -1;
  const absl::StatusOr<OpTemplate> op_template = MatMulTemplate(node.Dims(a), node.Dims(b));
  node.Check(op_template.status());
  if (node.failed()) return -1;
  if (node.Rank(a) < 2 || node.Rank(b) < 2) return node.Write(*op_template, {a, b});
  const Dims batch_a(node.Dims(a).begin(), node.Dims(a).end() - 2);
  const Dims batch_b(node.Dims(b).begin(), node.Dims(b).end() - 2);
  const char* entry = batch_a == batch_b ? "matmul"
                      : batch_b.empty()  ? "linear"
                                         : "matmul_broadcast";
  return node.Entry(entry, {a, b});
}

void TranslateMatMul(NodeContext& node) {
  const int a = node.Input(0), b = node.Input(1);
  node.SetOutput(0, MatMulOf(node, a, b));
}

void TranslateGemm(NodeContext& node) {
  int a = node.Input(0), b = node.Input(1);
  if (node.Rank(a) != 2 || node.Rank(b) != 2) node.Fail("its operands must be matrices");
  if (node.failed()) return;
  if (node.Int("transA", 0) != 0) a = node.Transpose(a, {1, 0});
  if (node.Int("transB", 0) != 0) b = node.Transpose(b, {1, 0});
  const double alpha = node.Float("alpha", 1), beta = node.Float("beta", 1);
  int c = beta == 0 ? -1 : node.Optional(2);
  if (c >= 0 && node.opset() < 7 && node.Int("broadcast", 0) == 0 &&
      node.Dims(c) != Dims{node.Dims(a)[0], node.Dims(b)[1]}) {
    return node.Fail("its third operand ", Extents(node.Dims(c)), " has not the result's shape, ",
                     "which its version needs where it has no `broadcast`");
  }
  if (c >= 0 && node.Rank(c) == 0) c = node.Reshape(c, {1});
  node.SetOutput(0, node.Entry("linear", {a, b, c}, {{"alpha", alpha}, {"beta", beta}}));
}

void TranslateEinsum(NodeContext& node) {
  const std::vector<int> operands = node.AllInputs();
  const std::string equation = node.String("equation", "");
  if (node.failed()) return;
  std::vector<Dims> dims;
  for (const int operand : operands) dims.push_back(node.Dims(operand));
  const absl::StatusOr<OpTemplate> op_template = EinsumTemplate(equation, dims);
  if (!op_template.ok()) return node.Check(op_template.status());
  node.SetOutput(0, node.Write(*op_template, operands));
}

namespace {

// The exponent as integers, exactly, where it is known and whole; else -1.
int WholeExponent(NodeContext& node, int exponent) {
  if (!node.IsKnown(exponent) || node.GrowsWithCache(exponent)) return -1;
  for (const Scalar& element : node.ValueOf(exponent).known->elements) {
    const double number = element.number;
    if (number != std::nearbyint(number) || std::abs(number) > 0x1p53) return -1;
  }
  return node.Cast(exponent, ElementType::kI64);
}

}  // namespace

// The exponent may have another type than the base, whose type the result has. Integers to the
// power of integers are exact; to that of floats they are computed in f64.
void TranslatePow(NodeContext& node) {
  const int base = node.Input(0);
  int exponent = node.Input(1);
  if (node.failed()) return;
  const ElementType type = node.ValueOf(base).type;
  if (!IsFloat(type) && IsFloat(node.ValueOf(exponent).type)) {
    const int whole = WholeExponent(node, exponent);
    if (whole >= 0) exponent = whole;
  }
  // A long exponent of a short integer keeps its length, a float beside an integer gets f64.
  const ElementType other = node.ValueOf(exponent).type;
  const ElementType wide = IsFloat(type)                ? type
                           : IsFloat(other)             ? ElementType::kF64
                           : other == ElementType::kI64 ? other
                                                        : type;
  const int power = node.Entry("pow", {node.Cast(base, wide), node.Cast(exponent, wide)});
  node.SetOutput(0, node.Cast(power, type));
}

// The quotient is rounded down, or with fmod toward zero.
void TranslateMod(NodeContext& node) {
  const int a = node.Input(0), b = node.Input(1);
  const bool floats = IsFloat(node.ValueOf(a).type), truncates = node.Int("fmod", 0) != 0;
  if (floats && !truncates && node.opset() < 28)
    return node.Fail("its operands are floats, for which its version has fmod = 1 alone");
  const char* entry = floats ? (truncates ? "fmod" : "floor_mod") : truncates ? "trunc_mod" : "mod";
  node.SetOutput(0, node.Entry(entry, {a, b}));
}

void TranslateClip(NodeContext& node) {
  const int x = node.Input(0);
  if (node.failed()) return;
  int low = -1, high = -1;
  if (node.opset() < 11) {
    const ElementType type = node.ValueOf(x).type;
    if (node.HasAttribute("min")) low = node.Literal(type, node.Float("min", 0));
    if (node.HasAttribute("max")) high = node.Literal(type, node.Float("max", 0));
  } else {
    low = node.Optional(1);
    high = node.Optional(2);
  }
  node.SetOutput(0, node.Entry("clip", {x, low, high}));
}

void TranslateIsInf(NodeContext& node) {
  const int x = node.Input(0);
  node.SetOutput(0, node.Entry("is_inf", {x},
                               {{"negative", node.Int("detect_negative", 1)},
                                {"positive", node.Int("detect_positive", 1)}}));
}

void TranslateGelu(NodeContext& node) {
  const int x = node.Input(0);
  const std::string approximate = node.String("approximate", "none");
  if (approximate != "none" && approximate != "tanh")
    return node.Fail("attribute 'approximate' is '", approximate, "', neither none nor tanh");
  node.SetOutput(0, node.Entry(approximate == "tanh" ? "gelu_tanh" : "gelu", {x}));
}

}  // namespace yuba::onnx
