// Nodes with nodes inside, where it is known when planning which of these run and how often: they
// take the node's place, once for each run.
#include <algorithm>

#include "compiler/import/templates/templates.h"
#include "compiler/import/translate/body.h"
#include "compiler/import/translate/operators/translate.h"
#include "compiler/simplify/constants.h"

namespace yuba::onnx {
namespace {

constexpr int64_t kMostRuns = 65536;

// The integer or truth value that is known when planning; none where it is not, or no single one.
absl::optional<int64_t> KnownScalar(const NodeContext& node, int value) {
  if (!node.IsKnown(value) || node.GrowsWithCache(value) || IsFloat(node.ValueOf(value).type))
    return absl::nullopt;
  const TensorValue& known = *node.ValueOf(value).known;
  if (known.elements.size() != 1) return absl::nullopt;
  return known.elements[0].integer;
}

NamedValue Tensor(int value) { return NamedValue{value, absl::nullopt}; }

NamedValue Truth(NodeContext& node, bool truth) {
  TensorValue value;
  value.type = TensorType{ElementType::kBool, {}};
  value.elements.resize(1);
  value.elements[0].integer = truth ? 1 : 0;
  return Tensor(node.Constant(std::move(value)));
}

// The operand as it is, tensor or sequence; a mistake where it is absent.
NamedValue Given(NodeContext& node, int i) {
  if (node.IsSequence(i)) return NamedValue{-1, node.Sequence(i)};
  return Tensor(node.Input(i));
}

void Give(NodeContext& node, int output, const NamedValue& value) {
  if (value.sequence.has_value()) {
    node.SetSequence(output, *value.sequence);
  } else {
    node.SetOutput(output, value.tensor);
  }
}

// What runs of a body add to the outputs that collect one element of each.
class Collected {
 public:
  Collected(NodeContext& node, int count) : node_(node), runs_(count) {}

  void Add(const std::vector<NamedValue>& outputs, int first) {
    for (size_t k = 0; k < runs_.size(); ++k) {
      const NamedValue& output = outputs[first + k];
      if (output.sequence.has_value()) node_.Fail("it collects sequences");
      runs_[k].push_back(output.tensor);
    }
  }

  // The elements of all runs along a new dimension `axis`.
  void Give(int output, int k, int64_t axis, bool reversed) {
    std::vector<int> parts = runs_[k];
    if (node_.failed() || !node_.HasOutput(output)) return;
    if (parts.empty()) {
      return node_.Fail("the nodes inside of it run no time, which leaves the shape of output ",
                        output, " open");
    }
    if (reversed) std::reverse(parts.begin(), parts.end());
    const int at = node_.Axis(axis, node_.Rank(parts[0]) + 1);
    node_.SetOutput(output, node_.Stack(parts, at));
  }

 private:
  NodeContext& node_;
  std::vector<std::vector<int>> runs_;  // [output][run]
};

}  // namespace

void TranslateIf(NodeContext& node) {
  const absl::optional<int64_t> condition = KnownScalar(node, node.Input(0));
  if (node.failed()) return;
  if (!condition.has_value())
    return node.FailUnknown("its condition '", node.proto().input(0), "'");
  Body branch(node, *condition != 0 ? "then_branch" : "else_branch");
  if (branch.inputs() != 0 || branch.outputs() < node.OutputCount()) {
    node.Fail("its branch has ", branch.inputs(), " inputs and ", branch.outputs(),
              " outputs, for ", node.OutputCount(), " of its own");
  }
  if (node.failed()) return;
  const std::vector<NamedValue> outputs = branch.Run({}, *condition != 0 ? "then" : "else");
  for (int i = 0; i < node.OutputCount(); ++i) Give(node, i, outputs[i]);
}

namespace {

// How often a Loop runs at most; less than 0 for any number.
int64_t MostRuns(NodeContext& node) {
  if (node.proto().input(0).empty()) return -1;
  const absl::optional<int64_t> count = KnownScalar(node, node.Input(0));
  if (!count.has_value()) node.FailUnknown("its trip count '", node.proto().input(0), "'");
  return std::max<int64_t>(0, count.value_or(0));
}

}  // namespace

void TranslateLoop(NodeContext& node) {
  const bool conditional = node.InputCount() > 1 && !node.proto().input(1).empty();
  const int64_t most = MostRuns(node);
  absl::optional<int64_t> go = 1;
  if (conditional) go = KnownScalar(node, node.Input(1));
  if (!go.has_value()) node.FailUnknown("its condition '", node.proto().input(1), "'");
  std::vector<NamedValue> carried;
  for (int i = 2; i < node.InputCount(); ++i) carried.push_back(Given(node, i));
  const auto states = static_cast<int>(carried.size());
  Body body(node, "body");
  const int collected = body.outputs() - 1 - states;
  if (body.inputs() != 2 + states || collected < 0 || node.OutputCount() > states + collected) {
    node.Fail("its body has ", body.inputs(), " inputs and ", body.outputs(),
              " outputs, which do not fit ", states, " values that it carries");
  }
  if (node.failed()) return;
  Collected rows(node, collected);
  for (int64_t run = 0; run != most && *go != 0; ++run) {
    if (run == kMostRuns) return node.Fail("it runs more than ", kMostRuns, " times");
    std::vector<NamedValue> inputs = {Tensor(node.Constant(compiler::IntegerValue({}, {run}))),
                                      Truth(node, true)};
    inputs.insert(inputs.end(), carried.begin(), carried.end());
    const std::vector<NamedValue> outputs = body.Run(inputs, absl::StrCat(run));
    if (node.failed()) return;
    if (conditional) go = KnownScalar(node, outputs[0].tensor);
    if (!go.has_value()) return node.FailUnknown("the condition that its run ", run, " leaves");
    carried.assign(outputs.begin() + 1, outputs.begin() + 1 + states);
    rows.Add(outputs, 1 + states);
  }
  for (int i = 0; i < states; ++i) Give(node, i, carried[i]);
  for (int k = 0; k < collected; ++k) rows.Give(states + k, k, 0, false);
}

namespace {

// The scanned operands of a Scan, cut into elements.
class Scanned {
 public:
  Scanned(NodeContext& node, int first) : node_(node) {
    const std::vector<int64_t> axes = node.Ints("scan_input_axes");
    const std::vector<int64_t> backward = node.Ints("scan_input_directions");
    for (int i = first; i < node.InputCount() && !node.failed(); ++i) {
      const size_t k = i - first;
      const int x = node.Input(i);
      const int axis = node.Axis(k < axes.size() ? axes[k] : 0, node.Rank(x));
      if (node.failed()) return;
      if (k > 0 && node.Dims(x)[axis] != length_) {
        node.Fail("its operands are scanned along ", length_, " and ", node.Dims(x)[axis],
                  " elements");
      }
      length_ = node.Dims(x)[axis];
      operands_.push_back({x, axis, k < backward.size() && backward[k] != 0});
    }
  }

  int64_t length() const { return length_; }

  std::vector<NamedValue> Elements(int64_t run) {
    std::vector<NamedValue> elements;
    for (const Operand& operand : operands_) {
      const int64_t at = operand.backward ? length_ - 1 - run : run;
      elements.push_back(Tensor(node_.Element(operand.value, operand.axis, at)));
    }
    return elements;
  }

 private:
  struct Operand {
    int value, axis;
    bool backward;
  };
  NodeContext& node_;
  int64_t length_ = 0;
  std::vector<Operand> operands_;
};

}  // namespace

void TranslateScan(NodeContext& node) {
  if (node.opset() < 9) return node.Fail("it is of before opset 9, which is not supported");
  const int64_t count = node.Int("num_scan_inputs", 0);
  if (count < 1 || count > node.InputCount())
    return node.Fail("attribute 'num_scan_inputs' is ", count, " of ", node.InputCount());
  const int states = node.InputCount() - static_cast<int>(count);
  std::vector<NamedValue> carried;
  for (int i = 0; i < states; ++i) carried.push_back(Given(node, i));
  Scanned scanned(node, states);
  Body body(node, "body");
  const int collected = body.outputs() - states;
  if (body.inputs() != node.InputCount() || collected < 0 ||
      node.OutputCount() > states + collected) {
    node.Fail("its body has ", body.inputs(), " inputs and ", body.outputs(), " outputs, for ",
              node.InputCount(), " and ", node.OutputCount(), " of its own");
  }
  if (scanned.length() > kMostRuns) node.Fail("it runs more than ", kMostRuns, " times");
  if (node.failed()) return;
  Collected rows(node, collected);
  for (int64_t run = 0; run < scanned.length(); ++run) {
    std::vector<NamedValue> inputs = carried;
    const std::vector<NamedValue> elements = scanned.Elements(run);
    inputs.insert(inputs.end(), elements.begin(), elements.end());
    const std::vector<NamedValue> outputs = body.Run(inputs, absl::StrCat(run));
    if (node.failed()) return;
    carried.assign(outputs.begin(), outputs.begin() + states);
    rows.Add(outputs, states);
  }
  for (int i = 0; i < states; ++i) Give(node, i, carried[i]);
  const std::vector<int64_t> axes = node.Ints("scan_output_axes");
  const std::vector<int64_t> backward = node.Ints("scan_output_directions");
  for (size_t k = 0; k < static_cast<size_t>(collected); ++k) {
    rows.Give(states + static_cast<int>(k), static_cast<int>(k), k < axes.size() ? axes[k] : 0,
              k < backward.size() && backward[k] != 0);
  }
}

// Runs for each element of the first sequence, with those of the others at the same position, and
// with tensors as they are.
void TranslateSequenceMap(NodeContext& node) {
  const size_t length = node.Sequence(0).size();
  Body body(node, "body");
  if (body.inputs() != node.InputCount() || body.outputs() < node.OutputCount()) {
    node.Fail("its body has ", body.inputs(), " inputs and ", body.outputs(), " outputs, for ",
              node.InputCount(), " and ", node.OutputCount(), " of its own");
  }
  std::vector<std::vector<int>> sequences(node.OutputCount());
  for (size_t run = 0; run < length && !node.failed(); ++run) {
    std::vector<NamedValue> inputs;
    for (int i = 0; i < node.InputCount(); ++i) {
      NamedValue given = Given(node, i);
      if (given.sequence.has_value() && given.sequence->size() != length) {
        return node.Fail("its sequences have ", length, " and ", given.sequence->size(),
                         " elements");
      }
      inputs.push_back(given.sequence.has_value() ? Tensor((*given.sequence)[run]) : given);
    }
    const std::vector<NamedValue> outputs = body.Run(inputs, absl::StrCat(run));
    for (size_t i = 0; i < sequences.size(); ++i) {
      if (outputs[i].sequence.has_value()) node.Fail("it makes sequences of sequences");
      sequences[i].push_back(outputs[i].tensor);
    }
  }
  for (size_t i = 0; i < sequences.size(); ++i) node.SetSequence(static_cast<int>(i), sequences[i]);
}

}  // namespace yuba::onnx
