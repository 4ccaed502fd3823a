// Nodes with nodes inside, where it is known when planning which of these run and how often.
#include <catch2/catch.hpp>

#include "tests/compiler/support/onnx_builder.h"
#include "tests/compiler/support/whole_model.h"
#include "tests/support/status_matchers.h"

namespace yuba::onnx {
namespace {

using Catch::Matchers::Contains;
using compiler::OnnxBuilder;

::onnx::NodeProto& AddNode(::onnx::GraphProto& graph, const std::string& op_type,
                           const std::vector<std::string>& inputs,
                           const std::vector<std::string>& outputs) {
  ::onnx::NodeProto& node = *graph.add_node();
  node.set_op_type(op_type);
  node.set_name("inside_" + outputs[0]);
  for (const std::string& input : inputs) node.add_input(input);
  for (const std::string& output : outputs) node.add_output(output);
  return node;
}

// An attribute that is a graph with these inputs and outputs, to be filled.
::onnx::GraphProto& AddGraph(::onnx::NodeProto& node, const std::string& name,
                             const std::vector<std::string>& inputs,
                             const std::vector<std::string>& outputs) {
  ::onnx::AttributeProto& attribute = *node.add_attribute();
  attribute.set_name(name);
  attribute.set_type(::onnx::AttributeProto::GRAPH);
  ::onnx::GraphProto& graph = *attribute.mutable_g();
  graph.set_name(name);
  for (const std::string& input : inputs) graph.add_input()->set_name(input);
  for (const std::string& output : outputs) graph.add_output()->set_name(output);
  return graph;
}

void AddScalar(::onnx::GraphProto& graph, const std::string& name, int64_t value, int type) {
  ::onnx::TensorProto& tensor = *graph.add_initializer();
  tensor.set_name(name);
  tensor.set_data_type(type);
  if (type == ::onnx::TensorProto::INT64) {
    tensor.add_int64_data(value);
  } else {
    tensor.add_int32_data(static_cast<int32_t>(value));
  }
}

void AddInteger(OnnxBuilder& builder, const std::string& name, int64_t value) {
  AddScalar(*builder.proto().mutable_graph(), name, value, ::onnx::TensorProto::INT64);
}

void AddTruth(OnnxBuilder& builder, const std::string& name, bool value) {
  AddScalar(*builder.proto().mutable_graph(), name, value ? 1 : 0, ::onnx::TensorProto::BOOL);
}

std::string MessageOf(const OnnxBuilder& builder) {
  const absl::StatusOr<compiler::Model> model = compiler::ImportFile(builder.Save());
  return model.ok() ? "imported" : std::string(model.status().message());
}

// All outputs one behind the other, for an input of 1, 2, 3, ...
std::vector<double> Run(const OnnxBuilder& builder) {
  const absl::StatusOr<compiler::Model> model = compiler::ImportFile(builder.Save());
  REQUIRE_THAT(model, IsOk());
  const Tensor& input = model->graph.tensors[model->graph.inputs[0]];
  TensorValue x;
  x.type = TensorType{input.type.type, WholeDims(input)};
  for (int64_t i = 0; i < ElementCount(x.type); ++i) {
    Scalar scalar;
    scalar.number = static_cast<double>(i + 1);
    x.elements.push_back(scalar);
  }
  const absl::StatusOr<std::vector<TensorValue>> outputs = compiler::RunWhole(*model, {x});
  REQUIRE_THAT(outputs, IsOk());
  std::vector<double> numbers;
  for (const TensorValue& output : *outputs) {
    for (const Scalar& element : output.elements) {
      numbers.push_back(IsFloat(output.type.type) ? element.number
                                                  : static_cast<double>(element.integer));
    }
  }
  return numbers;
}

// x -> If(condition) -> y: -x, or w + x with a weight of the branch; a third node is needed by
// none.
::onnx::NodeProto& AddIf(OnnxBuilder& builder, const std::string& condition) {
  ::onnx::NodeProto& node = builder.Node("If", {condition}, {"y"});
  AddNode(AddGraph(node, "then_branch", {}, {"t"}), "Neg", {"x"}, {"t"});
  ::onnx::GraphProto& other = AddGraph(node, "else_branch", {}, {"t"});
  ::onnx::TensorProto& stored = *other.add_initializer();
  stored.set_name("w");
  stored.set_data_type(::onnx::TensorProto::FLOAT);
  stored.add_dims(2);
  for (const float value : {10, 20}) stored.add_float_data(value);
  AddNode(other, "NonZero", {"x"}, {"nobody"});
  AddNode(other, "Add", {"x", "w"}, {"t"});
  return node;
}

OnnxBuilder WithInput() {
  OnnxBuilder builder;
  builder.Input("x", {2});
  builder.Output("y");
  return builder;
}

TEST_CASE("the branch of an If whose condition is stored") {
  for (const bool condition : {true, false}) {
    OnnxBuilder builder = WithInput();
    AddTruth(builder, "condition", condition);
    AddIf(builder, "condition");
    CHECK(Run(builder) == (condition ? std::vector<double>{-1, -2} : std::vector<double>{11, 22}));
  }
}

TEST_CASE("a condition that is computed from shapes") {
  for (const int64_t size : {2, 3}) {
    OnnxBuilder builder = WithInput();
    AddInteger(builder, "size", size);
    AddInteger(builder, "zero", 0);
    builder.Node("Shape", {"x"}, {"shape"});
    builder.Node("Gather", {"shape", "zero"}, {"length"});
    builder.Node("Equal", {"length", "size"}, {"same"});
    AddIf(builder, "same");
    CHECK(Run(builder) == (size == 2 ? std::vector<double>{-1, -2} : std::vector<double>{11, 22}));
  }
}

TEST_CASE("an If inside of an If reads values of all graphs around it") {
  OnnxBuilder builder = WithInput();
  AddTruth(builder, "yes", true);
  ::onnx::NodeProto& node = builder.Node("If", {"yes"}, {"y"});
  ::onnx::GraphProto& outer = AddGraph(node, "then_branch", {}, {"t"});
  AddNode(outer, "Exp", {"x"}, {"e"});
  AddNode(outer, "Log", {"e"}, {"same"});
  ::onnx::NodeProto& inner = AddNode(outer, "If", {"yes"}, {"t"});
  AddNode(AddGraph(inner, "then_branch", {}, {"s"}), "Add", {"same", "x"}, {"s"});
  AddNode(AddGraph(inner, "else_branch", {}, {"s"}), "Neg", {"e"}, {"s"});
  AddNode(AddGraph(node, "else_branch", {}, {"t"}), "Neg", {"x"}, {"t"});
  CHECK(Run(builder) == std::vector<double>{2, 4});
}

TEST_CASE("a condition that values decide is refused as before, with where to end") {
  OnnxBuilder builder = WithInput();
  builder.Node("Relu", {"x"}, {"h"});
  builder.Node("ReduceMax", {"h"}, {"most"});
  builder.Node("Cast", {"most"}, {"flag"});
  compiler::SetInt(*builder.proto().mutable_graph()->mutable_node(2), "to",
                   ::onnx::TensorProto::BOOL);
  AddIf(builder, "flag");
  CHECK_THAT(MessageOf(builder), Contains("node 'node_y' (If)") &&
                                     Contains("its condition 'flag' is not known when "
                                              "planning") &&
                                     Contains("export by tracing") && Contains("--to-tensors"));
}

TEST_CASE("what is wrong inside of a node names both") {
  OnnxBuilder builder = WithInput();
  AddTruth(builder, "yes", true);
  ::onnx::NodeProto& node = builder.Node("If", {"yes"}, {"y"});
  ::onnx::NodeProto& inner =
      AddNode(AddGraph(node, "then_branch", {}, {"t"}), "Softmax", {"x"}, {"t"});
  AddNode(AddGraph(node, "else_branch", {}, {"t"}), "Neg", {"x"}, {"t"});
  CHECK(MessageOf(builder) == "imported");
  compiler::SetInt(inner, "axis", 3);
  CHECK_THAT(MessageOf(builder),
             Contains("node 'node_y' (If), opset 17: node 'y/then/inside_t' (Softmax), opset 17: "
                      "axis 3 is outside"));
  inner.set_op_type("NonZero");
  CHECK_THAT(MessageOf(builder),
             Contains("operator NonZero is not supported: NonZero: how large the result is"));
  inner.set_op_type("Neg");
  inner.clear_attribute();
  inner.set_input(0, "nowhere");
  CHECK_THAT(MessageOf(builder), Contains("reads 'nowhere', which nothing gives"));
}

// y, rows = Loop(count, yes, x): y grows by x; a row of each run is 10 y.
::onnx::NodeProto& AddLoop(OnnxBuilder& builder, const std::string& count,
                           const std::string& condition) {
  ::onnx::NodeProto& node = builder.Node("Loop", {count, condition, "x"}, {"y", "rows"});
  ::onnx::GraphProto& body =
      AddGraph(node, "body", {"i", "go", "before"}, {"still", "after", "row"});
  AddNode(body, "Identity", {"go"}, {"still"});
  AddNode(body, "Add", {"before", "x"}, {"after"});
  AddScalar(body, "ten", 10, ::onnx::TensorProto::INT64);
  AddNode(body, "CastLike", {"ten", "after"}, {"factor"});
  AddNode(body, "Mul", {"after", "factor"}, {"row"});
  return node;
}

TEST_CASE("a Loop whose trip count is known") {
  for (const int64_t count : {1, 3}) {
    OnnxBuilder builder = WithInput();
    builder.Output("rows");
    AddInteger(builder, "count", count);
    AddTruth(builder, "yes", true);
    AddLoop(builder, "count", "yes");
    std::vector<double> expected = {1.0 * (count + 1), 2.0 * (count + 1)};
    for (int64_t run = 2; run < count + 2; ++run) {
      expected.push_back(10.0 * run);
      expected.push_back(20.0 * run);
    }
    CHECK(Run(builder) == expected);
  }
}

TEST_CASE("weights of the file that only nodes inside read, and one that is an output of theirs") {
  OnnxBuilder builder = WithInput();
  builder.Weight("w", {2});
  builder.Weight("u", {2});
  AddInteger(builder, "count", 2);
  AddTruth(builder, "yes", true);
  ::onnx::NodeProto& node = builder.Node("Loop", {"count", "", "x"}, {"y"});
  ::onnx::GraphProto& body = AddGraph(node, "body", {"i", "go", "before"}, {"go", "after"});
  ::onnx::NodeProto& chosen = AddNode(body, "If", {"yes"}, {"t"});
  AddGraph(chosen, "then_branch", {}, {"w"});
  AddGraph(chosen, "else_branch", {}, {"u"});
  AddNode(body, "Mul", {"t", "u"}, {"product"});
  AddNode(body, "Add", {"before", "product"}, {"after"});
  const std::vector<double> numbers = Run(builder);
  CHECK(numbers[0] == Approx(1 + 2 * 0.1 * 0.1));
  CHECK(numbers[1] == Approx(2 + 2 * 0.2 * 0.2));
  const absl::StatusOr<compiler::Model> model = compiler::ImportFile(builder.Save());
  REQUIRE_THAT(model, IsOk());
  int parameters = 0;
  for (const Tensor& tensor : model->graph.tensors)
    parameters += tensor.kind == TensorKind::kParameter ? 1 : 0;
  CHECK(parameters == 2);
}

TEST_CASE("a Loop that does not run gives what it carries, and no rows") {
  OnnxBuilder builder = WithInput();
  AddInteger(builder, "count", 0);
  AddTruth(builder, "yes", true);
  ::onnx::NodeProto& node = AddLoop(builder, "count", "yes");
  CHECK_THAT(MessageOf(builder), Contains("the nodes inside of it run no time"));
  node.mutable_output()->RemoveLast();
  CHECK(Run(builder) == std::vector<double>{1, 2});
}

// While i < 3 and from: i = i + 1, with i carried and given as output; the run's number is i too.
TEST_CASE("a Loop without a trip count that its condition ends") {
  OnnxBuilder builder = WithInput();
  builder.Output("last");
  AddInteger(builder, "first", 0);
  AddInteger(builder, "one", 1);
  AddInteger(builder, "end", 3);
  AddTruth(builder, "yes", true);
  ::onnx::NodeProto& node = builder.Node("Loop", {"", "yes", "first", "x"}, {"last", "y"});
  ::onnx::GraphProto& body =
      AddGraph(node, "body", {"run", "go", "i", "before"}, {"still", "next", "after"});
  AddNode(body, "Add", {"i", "one"}, {"next"});
  AddNode(body, "Less", {"next", "end"}, {"still"});
  AddNode(body, "CastLike", {"run", "before"}, {"number"});
  AddNode(body, "Add", {"before", "number"}, {"after"});
  CHECK(Run(builder) == std::vector<double>{1 + 0 + 1 + 2, 2 + 0 + 1 + 2, 3});
}

TEST_CASE("a Loop that never ends, and one whose condition values decide") {
  OnnxBuilder builder = WithInput();
  AddTruth(builder, "yes", true);
  ::onnx::NodeProto& node = builder.Node("Loop", {"", "yes", "x"}, {"y"});
  ::onnx::GraphProto& body = AddGraph(node, "body", {"i", "go", "before"}, {"still", "before"});
  ::onnx::NodeProto& still = AddNode(body, "Identity", {"go"}, {"still"});
  CHECK_THAT(MessageOf(builder), Contains("it runs more than 65536 times"));
  still.set_op_type("ReduceMax");
  still.set_input(0, "before");
  CHECK_THAT(MessageOf(builder),
             Contains("the condition that its run 0 leaves is not known when planning") &&
                 Contains("with a fixed number of iterations"));
}

TEST_CASE("a Loop whose body does not fit it") {
  OnnxBuilder builder = WithInput();
  AddInteger(builder, "count", 2);
  ::onnx::NodeProto& node = builder.Node("Loop", {"count", "", "x"}, {"y"});
  AddNode(AddGraph(node, "body", {"i", "go"}, {"go", "y"}), "Neg", {"x"}, {"y"});
  CHECK_THAT(MessageOf(builder), Contains("its body has 2 inputs and 2 outputs, which do not fit 1 "
                                          "values that it carries"));
}

// A Scan over the columns of [2, 3] from the last on: sums so far, and each column times two, new
// columns again.
TEST_CASE("a Scan") {
  OnnxBuilder builder;
  builder.Input("x", {2, 3});
  builder.Integers("zeros", {0, 0});
  builder.Node("CastLike", {"zeros", "x"}, {"start"});
  ::onnx::NodeProto& node = builder.Node("Scan", {"start", "x"}, {"sum", "columns"});
  compiler::SetInt(node, "num_scan_inputs", 1);
  compiler::SetInts(node, "scan_input_axes", {1});
  compiler::SetInts(node, "scan_input_directions", {1});
  compiler::SetInts(node, "scan_output_axes", {-1});
  ::onnx::GraphProto& body = AddGraph(node, "body", {"before", "column"}, {"after", "twice"});
  AddNode(body, "Add", {"before", "column"}, {"after"});
  AddNode(body, "Add", {"column", "column"}, {"twice"});
  for (const char* output : {"sum", "columns"}) builder.Output(output);
  CHECK(Run(builder) == std::vector<double>{6, 15, 6, 4, 2, 12, 10, 8});
  compiler::SetInts(node, "scan_output_directions", {1});
  CHECK(Run(builder) == std::vector<double>{6, 15, 2, 4, 6, 8, 10, 12});
}

TEST_CASE("a function with an If inside gives its nodes names and attributes") {
  OnnxBuilder builder = WithInput();
  AddTruth(builder, "yes", true);
  ::onnx::FunctionProto& function = *builder.proto().add_functions();
  function.set_name("f");
  function.set_domain("local");
  for (const char* input : {"condition", "a"}) function.add_input(input);
  function.add_output("b");
  function.add_attribute("slope");
  ::onnx::NodeProto& node = *function.add_node();
  node.set_op_type("If");
  node.add_input("condition");
  node.add_output("b");
  for (const char* branch : {"then_branch", "else_branch"}) {
    ::onnx::GraphProto& graph = AddGraph(node, branch, {}, {"t"});
    AddNode(graph, "Neg", {"a"}, {"minus"});
    ::onnx::AttributeProto& alpha = *AddNode(graph, "LeakyRelu", {"minus"}, {"t"}).add_attribute();
    alpha.set_name("alpha");
    alpha.set_type(::onnx::AttributeProto::FLOAT);
    alpha.set_ref_attr_name("slope");
  }
  for (const char* step : {"x:h", "h:y"}) {
    ::onnx::NodeProto& call = builder.Node("f", {"yes", std::string(1, step[0])}, {step + 2});
    call.set_domain("local");
    compiler::SetFloat(call, "slope", 0.5);
  }
  CHECK(Run(builder) == std::vector<double>{0.5, 1});
}

TEST_CASE("nodes inside of nodes may run so often in all") {
  OnnxBuilder builder = WithInput();
  AddInteger(builder, "count", 60000);
  ::onnx::NodeProto& node = builder.Node("Loop", {"count", ""}, {"y"});
  ::onnx::GraphProto& body = AddGraph(node, "body", {"i", "go"}, {"go", "row"});
  std::string last = "i";
  for (int n = 0; n < 5; ++n) {
    const std::string next = n == 4 ? "row" : "t" + std::to_string(n);
    AddNode(body, "Identity", {last}, {next});
    last = next;
  }
  CHECK_THAT(MessageOf(builder),
             Contains("the nodes inside of nodes run 262144 times in all and more"));
}

}  // namespace
}  // namespace yuba::onnx
