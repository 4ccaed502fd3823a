// Sequences of tensors: they go away where their length and the positions are known when planning.
#include <catch2/catch.hpp>

#include "tests/compiler/support/onnx_builder.h"
#include "tests/compiler/support/whole_model.h"
#include "tests/support/status_matchers.h"

namespace yuba::onnx {
namespace {

using Catch::Matchers::Contains;
using compiler::OnnxBuilder;

std::string MessageOf(const OnnxBuilder& builder) {
  const absl::StatusOr<compiler::Model> model = compiler::ImportFile(builder.Save());
  return model.ok() ? "imported" : std::string(model.status().message());
}

TensorValue Counting(const std::vector<int64_t>& dims) {
  TensorValue value;
  value.type = TensorType{ElementType::kF32, dims};
  for (int64_t i = 0; i < ElementCount(value.type); ++i) {
    Scalar scalar;
    scalar.number = static_cast<double>(i);
    value.elements.push_back(scalar);
  }
  return value;
}

struct Result {
  std::vector<int64_t> dims;
  std::vector<double> elements;
  friend bool operator==(const Result& a, const Result& b) {
    return a.dims == b.dims && a.elements == b.elements;
  }
};

// The only output, for an input that counts 0, 1, 2, ...
Result Run(const OnnxBuilder& builder) {
  const absl::StatusOr<compiler::Model> model = compiler::ImportFile(builder.Save());
  REQUIRE_THAT(model, IsOk());
  std::vector<TensorValue> inputs;  // none where only its shape is read
  for (const TensorId input : model->graph.inputs)
    inputs.push_back(Counting(WholeDims(model->graph.tensors[input])));
  const absl::StatusOr<std::vector<TensorValue>> outputs = compiler::RunWhole(*model, inputs);
  REQUIRE_THAT(outputs, IsOk());
  Result result{WholeDims(model->graph.tensors[model->graph.outputs[0]]), {}};
  for (const Scalar& element : outputs->front().elements) {
    result.elements.push_back(IsFloat(outputs->front().type.type)
                                  ? element.number
                                  : static_cast<double>(element.integer));
  }
  return result;
}

// x [2, 5] split along its second dimension by `split` (a scalar where it is one number), and y
// made of the sequence s.
OnnxBuilder Split(const std::vector<int64_t>& split, bool scalar) {
  OnnxBuilder builder;
  builder.Input("x", {2, 5});
  builder.Integers("split", split);
  if (scalar) builder.proto().mutable_graph()->mutable_initializer(0)->clear_dims();
  for (const int64_t at : {0, 1, -1, 2}) builder.Integers("at" + std::to_string(at), {at});
  compiler::SetInt(builder.Node("SplitToSequence", {"x", "split"}, {"s"}), "axis", 1);
  builder.Output("y");
  return builder;
}

TEST_CASE("parts of one length, of which the last is shorter, and of several lengths") {
  OnnxBuilder equal = Split({2}, true);
  equal.Node("SequenceAt", {"s", "at-1"}, {"y"});
  CHECK(Run(equal) == Result{{2, 1}, {4, 9}});
  OnnxBuilder lengths = Split({1, 3, 1}, false);
  lengths.Node("SequenceAt", {"s", "at1"}, {"y"});
  CHECK(Run(lengths) == Result{{2, 3}, {1, 2, 3, 6, 7, 8}});
}

TEST_CASE("single elements, with their dimension and without") {
  for (const int64_t keep : {0, 1}) {
    OnnxBuilder builder;
    builder.Input("x", {2, 3});
    builder.Integers("at", {1});
    ::onnx::NodeProto& split = builder.Node("SplitToSequence", {"x"}, {"s"});
    compiler::SetInt(split, "keepdims", keep);
    builder.Node("SequenceAt", {"s", "at"}, {"y"});
    builder.Output("y");
    CHECK(Run(builder) ==
          Result{keep != 0 ? std::vector<int64_t>{1, 3} : std::vector<int64_t>{3}, {3, 4, 5}});
  }
}

TEST_CASE("sequences that are made, changed and joined") {
  OnnxBuilder builder = Split({2, 3}, false);
  builder.Node("SequenceAt", {"s", "at0"}, {"a"});
  builder.Node("Neg", {"a"}, {"b"});
  builder.Node("SequenceEmpty", {}, {"none"});
  builder.Node("SequenceInsert", {"none", "a"}, {"one"});
  builder.Node("SequenceInsert", {"one", "b", "at0"}, {"two"});
  builder.Node("Identity", {"two"}, {"same"});
  builder.Node("SequenceConstruct", {"b", "a"}, {"again"});
  builder.Node("SequenceErase", {"again"}, {"half"});
  builder.Node("SequenceAt", {"half", "at0"}, {"last"});
  builder.Node("SequenceInsert", {"same", "last", "at-1"}, {"three"});
  ::onnx::NodeProto& joined = builder.Node("ConcatFromSequence", {"three"}, {"y"});
  compiler::SetInt(joined, "axis", 0);
  CHECK(Run(builder) == Result{{6, 2}, {-0.0, -1, -5, -6, -0.0, -1, -5, -6, 0, 1, 5, 6}});
  compiler::SetInt(joined, "new_axis", 1);
  CHECK(Run(builder) == Result{{3, 2, 2}, {-0.0, -1, -5, -6, -0.0, -1, -5, -6, 0, 1, 5, 6}});
  OnnxBuilder length = Split({2, 3}, false);
  length.Node("SequenceLength", {"s"}, {"y"});
  CHECK(Run(length) == Result{{}, {2}});
}

TEST_CASE("a Split and one of its outputs is the same graph") {
  OnnxBuilder sequence = Split({2, 3}, false), split;
  sequence.Node("SequenceAt", {"s", "at1"}, {"y"});
  split.Input("x", {2, 5});
  split.Integers("split", {2, 3});
  compiler::SetInt(split.Node("Split", {"x", "split"}, {"nobody", "y"}), "axis", 1);
  split.Output("y");
  const auto hash = [](const OnnxBuilder& builder) {
    const absl::StatusOr<compiler::Model> model = compiler::ImportFile(builder.Save());
    REQUIRE_THAT(model, IsOk());
    return model->graph_hash;
  };
  CHECK(hash(sequence) == hash(split));
}

TEST_CASE("positions and lengths that cannot be") {
  const auto message = [](const std::string& at) {
    OnnxBuilder builder = Split({2, 3}, false);
    builder.Node("SequenceAt", {"s", at}, {"y"});
    return MessageOf(builder);
  };
  CHECK(message("at1") == "imported");
  CHECK_THAT(message("at2"), Contains("its position must be one integer from -2 to 1, not 2"));
  CHECK_THAT(message("split"), Contains("its position must be one integer from -2 to 1"));
  CHECK_THAT(message("x"), Contains("'x' must be integers that are known when planning"));
  OnnxBuilder many = Split({2, 4}, false);
  many.Node("SequenceAt", {"s", "at0"}, {"y"});
  CHECK_THAT(MessageOf(many), Contains("it splits off a part of 4"));
  OnnxBuilder few = Split({2, 2}, false);
  few.Node("SequenceAt", {"s", "at0"}, {"y"});
  CHECK_THAT(MessageOf(few),
             Contains("its parts [2, 2] do not make the 5 elements of dimension 1"));
  OnnxBuilder none = Split({2, 3}, false);
  none.Node("SequenceEmpty", {}, {"none"});
  none.Node("ConcatFromSequence", {"none"}, {"y"});
  CHECK_THAT(MessageOf(none), Contains("its sequence is empty"));
}

TEST_CASE("a sequence that is too long") {
  OnnxBuilder builder;
  builder.Input("x", {5000});
  builder.Integers("at", {0});
  builder.Node("SplitToSequence", {"x"}, {"s"});
  builder.Node("SequenceAt", {"s", "at"}, {"y"});
  builder.Output("y");
  CHECK_THAT(MessageOf(builder), Contains("its sequence has 5000 elements, and 4096 are the most"));
}

TEST_CASE("a sequence in place of a tensor, and a tensor in place of a sequence") {
  OnnxBuilder tensor = Split({2, 3}, false);
  tensor.Node("Neg", {"s"}, {"y"});
  CHECK_THAT(MessageOf(tensor),
             Contains("operand 0 is a sequence of tensors, and must be a tensor"));
  OnnxBuilder optional = Split({2, 3}, false);
  optional.Node("Clip", {"x", "s"}, {"y"});
  CHECK_THAT(MessageOf(optional),
             Contains("operand 1 is a sequence of tensors, and must be a tensor"));
  OnnxBuilder sequence = Split({2, 3}, false);
  sequence.Node("SequenceAt", {"x", "at0"}, {"y"});
  CHECK_THAT(MessageOf(sequence), Contains("operand 0 is no sequence"));
  OnnxBuilder output = Split({2, 3}, false);
  output.proto().mutable_graph()->mutable_output(0)->set_name("s");
  CHECK_THAT(MessageOf(output), Contains("the graph's output 's' is a sequence of tensors") &&
                                    Contains("ConcatFromSequence"));
}

// As exporters write lists that grow: nothing but the sequence is carried.
TEST_CASE("a Loop that carries a sequence, and a SequenceMap over it") {
  OnnxBuilder builder;
  builder.Input("x", {2, 3});
  builder.Integers("count", {3});
  builder.Node("SequenceEmpty", {}, {"none"});
  ::onnx::NodeProto& loop = builder.Node("Loop", {"count", "", "none"}, {"rows"});
  ::onnx::NodeProto& map = builder.Node("SequenceMap", {"rows", "x"}, {"sums"});
  const auto graph = [](::onnx::NodeProto& node, const std::vector<std::string>& inputs,
                        const std::vector<std::string>& outputs) {
    ::onnx::AttributeProto& attribute = *node.add_attribute();
    attribute.set_name("body");
    attribute.set_type(::onnx::AttributeProto::GRAPH);
    for (const std::string& input : inputs) attribute.mutable_g()->add_input()->set_name(input);
    for (const std::string& output : outputs) attribute.mutable_g()->add_output()->set_name(output);
    return attribute.mutable_g();
  };
  const auto node = [](::onnx::GraphProto* body, const std::string& op_type,
                       const std::vector<std::string>& inputs, const std::string& output) {
    ::onnx::NodeProto* inner = body->add_node();
    inner->set_op_type(op_type);
    for (const std::string& input : inputs) inner->add_input(input);
    inner->add_output(output);
    return inner;
  };
  ::onnx::GraphProto* body = graph(loop, {"i", "go", "before"}, {"go", "after"});
  compiler::SetInt(*node(body, "Gather", {"x", "i"}, "column"), "axis", 1);
  node(body, "SequenceInsert", {"before", "column"}, "after");
  ::onnx::GraphProto* each = graph(map, {"row", "all"}, {"sum"});
  ::onnx::NodeProto* first = node(each, "Gather", {"all", "zero"}, "first");
  compiler::SetInt(*first, "axis", 1);
  builder.Integers("zero", {0});
  builder.proto().mutable_graph()->mutable_initializer(1)->clear_dims();
  node(each, "Add", {"row", "first"}, "sum");
  compiler::SetInt(builder.Node("ConcatFromSequence", {"sums"}, {"y"}), "axis", 0);
  builder.Output("y");
  CHECK(Run(builder) == Result{{6}, {0, 6, 1, 7, 2, 8}});
}

}  // namespace
}  // namespace yuba::onnx
