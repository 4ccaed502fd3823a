// What graphs inside of nodes store, and what Loop and Scan begin with.
#include <algorithm>
#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "compiler/import/formed_initializers.h"
#include "tests/compiler/support/onnx_builder.h"
#include "tests/compiler/support/whole_model.h"
#include "tests/support/status_matchers.h"

namespace yuba::onnx {
namespace {

using compiler::OnnxBuilder;
using compiler::SetInt;

// The names of what a step changes, sorted: "b w".
std::string Trained(const OnnxBuilder& builder, std::vector<std::string>* notes = nullptr) {
  ImportOptions options;
  options.train = TrainOptions{"sgd", "mse", "", {}};
  options.train->list_all = true;
  const absl::StatusOr<compiler::Model> model = compiler::ImportFile(builder.Save(), options);
  REQUIRE_THAT(model, IsOk());
  std::vector<std::string> names;
  for (const Tensor& tensor : model->graph.tensors) {
    if (IsCarried(tensor)) names.push_back(tensor.name);
  }
  std::sort(names.begin(), names.end());
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : " ") + name;
  if (notes != nullptr) *notes = model->notes;
  return text;
}

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

void AddNode(::onnx::GraphProto& graph, const std::string& op,
             const std::vector<std::string>& inputs, const std::string& output) {
  ::onnx::NodeProto& node = *graph.add_node();
  node.set_op_type(op);
  for (const std::string& input : inputs) node.add_input(input);
  node.add_output(output);
}

// Gives the graph the stored value `name` of the builder's own, and it to nobody else.
void MoveStored(OnnxBuilder& builder, const std::string& name, ::onnx::GraphProto& to) {
  auto& stored = *builder.proto().mutable_graph()->mutable_initializer();
  const auto found = std::find_if(stored.begin(), stored.end(),
                                  [&](const auto& tensor) { return tensor.name() == name; });
  REQUIRE(found != stored.end());
  *to.add_initializer() = *found;
  stored.erase(found);
}

void AddScalar(OnnxBuilder& builder, const std::string& name, int64_t value) {
  builder.Integers(name, {value});
  builder.proto().mutable_graph()->mutable_initializer()->rbegin()->clear_dims();
}

// y = h v, of h = tanh(h w), three times, from x on; w stands in the body of the Loop or around it.
OnnxBuilder Looped(bool inside) {
  OnnxBuilder builder;
  builder.Input("x", {4, 3});
  builder.Weight("v", {3, 2});
  builder.Weight("w", {3, 3});
  AddScalar(builder, "three", 3);
  ::onnx::NodeProto& node = builder.Node("Loop", {"three", "", "x"}, {"last"});
  ::onnx::GraphProto& body = AddGraph(node, "body", {"i", "go", "h"}, {"go", "next"});
  AddNode(body, "MatMul", {"h", "w"}, "m");
  AddNode(body, "Tanh", {"m"}, "next");
  if (inside) MoveStored(builder, "w", body);
  builder.Node("MatMul", {"last", "v"}, {"y"});
  builder.Output("y");
  return builder;
}

TEST_CASE("what the body of a Loop stores is one parameter, for all its runs") {
  CHECK(Trained(Looped(false)) == "v w");
  CHECK(Trained(Looped(true)) == "v w");
  const auto around = compiler::ImportFile(Looped(false).Save());
  REQUIRE_THAT(around, IsOk());
  const auto inside = compiler::ImportFile(Looped(true).Save());
  REQUIRE_THAT(inside, IsOk());
  CHECK(inside->graph_hash == around->graph_hash);
}

TEST_CASE("an export with a new value of it has it beside the others") {
  OnnxBuilder builder = Looped(true);
  const auto names = RestoreInitializers(".", builder.proto());
  REQUIRE_THAT(names, IsOk());
  CHECK(*names == std::vector<std::string>{"w"});
  CHECK(builder.proto().graph().initializer_size() == 3);
}

TEST_CASE("names that others have too say where the parameter stands") {
  OnnxBuilder builder;
  builder.Input("x", {4, 3});
  builder.Weight("w", {3});
  builder.Integers("yes", {1});
  ::onnx::TensorProto& yes = *builder.proto().mutable_graph()->mutable_initializer()->rbegin();
  yes.clear_dims();
  yes.set_data_type(::onnx::TensorProto::BOOL);
  yes.clear_int64_data();
  yes.add_int32_data(1);
  ::onnx::NodeProto& node = builder.Node("If", {"yes"}, {"h"});
  for (const char* name : {"then_branch", "else_branch"}) {
    ::onnx::GraphProto& branch = AddGraph(node, name, {}, {"t"});
    *branch.add_initializer() = builder.proto().graph().initializer(0);
    AddNode(branch, "Mul", {"x", "w"}, "t");
  }
  builder.Node("Add", {"h", "w"}, {"y"});
  builder.Output("y");
  CHECK(Trained(builder) == "h/then_branch/w w");
}

TEST_CASE("where the file says what is a parameter, the bodies have none") {
  OnnxBuilder builder = Looped(true);
  builder.SayOfValue("v", "pkg.torch.export.graph_signature.InputSpec.kind", "PARAMETER");
  CHECK(Trained(builder) == "v");
}

void AddZeros(OnnxBuilder& builder) {
  for (const char* zeros : {"h0", "c"}) {
    builder.Weight(zeros, {3});
    auto& stored = *builder.proto().mutable_graph()->mutable_initializer()->rbegin();
    for (const int i : {0, 1, 2}) stored.set_float_data(i, 0);
  }
}

// after = tanh(before + row + b), and b2 = b or another value of it.
void AddStep(::onnx::GraphProto& body, const std::string& row, bool hands_on) {
  AddNode(body, "Add", {"before", row}, "sum");
  AddNode(body, "Add", {"sum", "b"}, "all");
  AddNode(body, "Tanh", {"all"}, "after");
  AddNode(body, hands_on ? "Identity" : "Tanh", {"b"}, "b2");
}

// The last h = tanh(h + x) of three, with h0 first, times v; c is carried too.
OnnxBuilder LoopedStates(bool hands_on) {
  OnnxBuilder builder;
  builder.Input("x", {3});
  builder.Weight("v", {3});
  AddZeros(builder);
  AddScalar(builder, "three", 3);
  ::onnx::NodeProto& node = builder.Node("Loop", {"three", "", "h0", "c"}, {"h", "d"});
  ::onnx::GraphProto& body =
      AddGraph(node, "body", {"i", "go", "before", "b"}, {"go", "after", "b2"});
  AddStep(body, "x", hands_on);
  builder.Node("Mul", {"h", "v"}, {"y"});
  builder.Output("y");
  return builder;
}

// The last h = tanh(h + x) of a Scan over the rows of x, with h0 first, times v; c is carried too.
OnnxBuilder Scanned(bool hands_on) {
  OnnxBuilder builder;
  builder.Input("x", {5, 3});
  builder.Weight("v", {3});
  AddZeros(builder);
  ::onnx::NodeProto& node = builder.Node("Scan", {"h0", "c", "x"}, {"h", "d"});
  SetInt(node, "num_scan_inputs", 1);
  ::onnx::GraphProto& body = AddGraph(node, "body", {"before", "b", "row"}, {"after", "b2"});
  AddStep(body, "row", hands_on);
  builder.Node("Mul", {"h", "v"}, {"y"});
  builder.Output("y");
  return builder;
}

TEST_CASE("zeros that a Loop begins with are not trained, those that it hands on are") {
  CHECK(Trained(LoopedStates(false)) == "v");
  CHECK(Trained(LoopedStates(true)) == "c v");
}

TEST_CASE("zeros that a Scan begins with are not trained, those that it hands on are") {
  std::vector<std::string> notes;
  CHECK(Trained(Scanned(false), &notes) == "v");
  CHECK(std::any_of(notes.begin(), notes.end(), [](const std::string& note) {
    return note.find("h0 (zeros that recurrences begin with)") != std::string::npos;
  }));
  CHECK(Trained(Scanned(true)) == "c v");
}

}  // namespace
}  // namespace yuba::onnx
