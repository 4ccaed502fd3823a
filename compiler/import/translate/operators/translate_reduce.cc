// Reductions over axes that attributes name, and what is made of them: softmax.
#include <map>

#include "compiler/import/templates/norm.h"
#include "compiler/import/templates/templates.h"
#include "compiler/import/translate/operators/translate.h"

namespace yuba::onnx {
namespace {

const std::map<std::string, ReduceText>& ReduceTexts() {
  static const auto* const kTexts = new std::map<std::string, ReduceText>{
      {"ReduceL1", {"reduce_l1", "sum", "abs($)", "$"}},
      {"ReduceL2", {"reduce_l2", "sum", "sq($)", "sqrt$"}},
      {"ReduceLogSum", {"reduce_log_sum", "sum", "$", "log$"}},
      {"ReduceMax", {"reduce_max", "max", "$", "$"}},
      {"ReduceMean", {"reduce_mean", "sum", "$", "$ / N"}},
      {"ReduceMin", {"reduce_min", "min", "$", "$"}},
      {"ReduceProd", {"reduce_prod", "prod", "$", "$"}},
      {"ReduceSum", {"reduce_sum", "sum", "$", "$"}},
      {"ReduceSumSquare", {"reduce_sum_square", "sum", "sq($)", "$"}},
  };
  return *kTexts;
}

struct ReduceAxes {
  std::vector<int> axes;  // none: of a scalar, or where none is meant (noop_with_empty_axes)
  bool keep = true;
  bool named = true;  // the node names axes
};

ReduceAxes ReadAxes(NodeContext& node, int x) {
  const int since = node.proto().op_type() == "ReduceSum" ? 13 : 18;
  ReduceAxes result;
  result.axes = node.Axes(since, 1, node.Rank(x));
  result.keep = node.Int("keepdims", 1) != 0;
  if (!result.axes.empty()) return result;
  result.named = false;
  const bool nothing = node.Int("noop_with_empty_axes", 0) != 0;
  for (int d = 0; d < node.Rank(x) && !nothing; ++d) result.axes.push_back(d);
  return result;
}

// What a reduction over no axis gives: what it does to each element is left. In onnx 1.17 the text
// of version 18 still gave the operand itself; that of 1.23 decides.
int OfEachElement(NodeContext& node, const std::string& op, int x) {
  if (op == "ReduceL1" || op == "ReduceL2") return node.Entry("abs", {x});
  if (op == "ReduceSumSquare") return node.Entry("mul", {x, x});
  return op == "ReduceLogSum" ? node.Entry("log", {x}) : x;
}

// Whether the gradient of a ReduceMax or ReduceMin is shared out to all elements that are equal to
// the result, as that of PyTorch's amax and of a maximum over everything; that of a maximum over
// one dimension is the first one's. PyTorch's exporter says of which of them a node was made.
bool SharesExtreme(const NodeContext& node, const ReduceAxes& axes) {
  const std::string& op = node.proto().op_type();
  if (!node.graph().trains || (op != "ReduceMax" && op != "ReduceMin")) return false;
  return !axes.named || axes.axes.size() > 1 || node.MadeOf({"aten.amax", "aten.amin"});
}

}  // namespace

void TranslateReduce(NodeContext& node) {
  const int x = node.Input(0);
  const ReduceAxes axes = ReadAxes(node, x);
  if (node.failed()) return;
  const std::string& op = node.proto().op_type();
  if (node.ValueOf(x).type == ElementType::kBool && node.opset() < 20)
    return node.Fail("its operand is of bools, which ", op, " takes from opset 20 on");
  if (axes.axes.empty()) return node.SetOutput(0, OfEachElement(node, op, x));
  if (IsFloat(node.ValueOf(x).type) && SharesExtreme(node, axes)) {
    const OpTemplate shared =
        SharedExtremeTemplate(op == "ReduceMax" ? "max" : "min", Name(node.ValueOf(x).type),
                              node.Dims(x), axes.axes, axes.keep);
    return node.SetOutput(0, node.Write(shared, {x}));
  }
  if (IsFloat(node.ValueOf(x).type) && op == "ReduceL2")
    return node.SetOutput(0, node.Write(NormTemplate(node.Dims(x), axes.axes, axes.keep), {x}));
  const ReduceText& text = ReduceTexts().at(op);
  node.SetOutput(0, node.Write(ReduceTemplate(text, node.Dims(x), axes.axes, axes.keep), {x}));
}

void TranslateReduceLogSumExp(NodeContext& node) {
  const int x = node.Input(0);
  const ReduceAxes axes = ReadAxes(node, x);
  if (node.failed()) return;
  // Of one element alone it is that element.
  if (axes.axes.empty()) return node.SetOutput(0, x);
  node.SetOutput(0, node.Write(LogSumExpTemplate(node.Dims(x), axes.axes, axes.keep), {x}));
}

void TranslateArg(NodeContext& node) {
  const int x = node.Input(0);
  const int axis = node.Axis(node.Int("axis", 0), node.Rank(x));
  const bool keep = node.Int("keepdims", 1) != 0, last = node.Int("select_last_index", 0) != 0;
  if (node.failed()) return;
  const std::string reducer = node.proto().op_type() == "ArgMax" ? "argmax" : "argmin";
  node.SetOutput(0, node.Write(ArgTemplate(reducer, node.Dims(x), axis, keep, last), {x}));
}

void TranslateCumSum(NodeContext& node) {
  const int x = node.Input(0);
  const Dims axes = node.KnownInts(node.Input(1), "axis");
  if (axes.size() != 1) node.Fail("its axis must be one integer");
  if (node.failed()) return;
  const int axis = node.Axis(axes[0], node.Rank(x));
  const bool exclusive = node.Int("exclusive", 0) != 0, reverse = node.Int("reverse", 0) != 0;
  if (node.failed()) return;
  const int y = node.Entry(reverse ? "cumsum_reverse" : "cumsum", {node.AxisLast(x, axis)},
                           {{"exclusive", int64_t{exclusive}}});
  node.SetOutput(0, node.failed() ? -1 : node.AxisBack(y, axis));
}

void TranslateSoftmax(NodeContext& node) {
  const int x = node.Input(0);
  const char* entry = node.proto().op_type() == "Softmax" ? "softmax" : "log_softmax";
  const int rank = node.Rank(x);
  const bool flatten = node.opset() < 13;
  const int64_t given = node.Int("axis", flatten ? 1 : -1);
  // Before opset 13 the axis may be the rank: nothing is left to normalize over.
  if (flatten && given == rank && !node.failed()) {
    Dims dims = node.Dims(x);
    dims.push_back(1);
    return node.SetOutput(0,
                          node.Reshape(node.Entry(entry, {node.Reshape(x, dims)}), node.Dims(x)));
  }
  const int axis = node.Axis(given, rank);
  if (node.failed()) return;
  if (!flatten || axis == rank - 1) {
    const int y = node.Entry(entry, {node.AxisLast(x, axis)});
    return node.SetOutput(0, node.failed() ? -1 : node.AxisBack(y, axis));
  }
  // Over all dimensions from the axis on.
  Dims dims(node.Dims(x).begin(), node.Dims(x).begin() + axis);
  dims.push_back(1);
  for (int d = axis; d < rank; ++d) dims.back() *= node.Dims(x)[d];
  const int y = node.Entry(entry, {node.Reshape(x, dims)});
  node.SetOutput(0, node.failed() ? -1 : node.Reshape(y, node.Dims(x)));
}

// Hardmax: 1 at the first of the largest elements, 0 at all others.
void TranslateHardmax(NodeContext& node) {
  const int x = node.Input(0);
  const bool flatten = node.opset() < 13;
  const int axis = node.Axis(node.Int("axis", flatten ? 1 : -1), node.Rank(x));
  if (node.failed()) return;
  // Before opset 13 over all dimensions from the axis on.
  const Dims shape = node.Dims(x);
  Dims dims(shape.begin(), shape.begin() + axis);
  dims.push_back(1);
  for (size_t d = axis; d < shape.size(); ++d) dims.back() *= shape[d];
  const int rows = flatten ? node.Reshape(x, dims) : node.AxisLast(x, axis);
  if (node.failed()) return;
  const int last = node.Rank(rows) - 1;
  const int at = node.Write(ArgTemplate("argmax", node.Dims(rows), last, false, false), {rows});
  const ElementType type = node.ValueOf(x).type;
  const int y = node.Entry("one_hot", {at, node.Literal(type, 0), node.Literal(type, 1)},
                           {{"n", node.Dims(rows)[last]}});
  if (!node.failed()) node.SetOutput(0, flatten ? node.Reshape(y, shape) : node.AxisBack(y, axis));
}

}  // namespace yuba::onnx
