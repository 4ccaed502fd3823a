// Functions of the model: which one a node calls, and what a call may not say.
#include <catch2/catch.hpp>
#include <functional>

#include "tests/compiler/support/onnx_builder.h"
#include "tests/compiler/support/whole_model.h"
#include "tests/support/status_matchers.h"

namespace yuba::onnx {
namespace {

using Catch::Matchers::Contains;

// Sets a text by its field's number, of which installed versions of ONNX's format may not know.
template <typename Message>
void SetText(Message& message, int field, const std::string& text) {
  std::string bytes = message.SerializeAsString();
  bytes += static_cast<char>(field << 3 | 2);
  bytes += static_cast<char>(text.size());
  REQUIRE(message.ParseFromString(bytes + text));
}

constexpr int kOverloadOfNode = 8, kOverloadOfFunction = 13;

// local.f(a) = op_type(a), under an overload.
::onnx::FunctionProto& AddFunction(compiler::OnnxBuilder& builder, const std::string& op_type,
                                   const std::string& overload) {
  ::onnx::FunctionProto& function = *builder.proto().add_functions();
  function.set_name("f");
  function.set_domain("local");
  function.add_input("a");
  function.add_output("b");
  ::onnx::NodeProto& node = *function.add_node();
  node.set_op_type(op_type);
  node.add_input("a");
  node.add_output("b");
  if (!overload.empty()) SetText(function, kOverloadOfFunction, overload);
  return function;
}

::onnx::NodeProto& AddCall(compiler::OnnxBuilder& builder, const std::string& from,
                           const std::string& to, const std::string& overload) {
  ::onnx::NodeProto& call = builder.Node("f", {from}, {to});
  call.set_domain("local");
  if (!overload.empty()) SetText(call, kOverloadOfNode, overload);
  return call;
}

compiler::OnnxBuilder Builder() {
  compiler::OnnxBuilder builder;
  builder.Input("x", {2});
  builder.Output("y");
  return builder;
}

std::string MessageOf(const compiler::OnnxBuilder& builder) {
  const absl::StatusOr<compiler::Model> model = compiler::ImportFile(builder.Save());
  return model.ok() ? "imported" : std::string(model.status().message());
}

// The outputs for x = 2, 3.
std::vector<double> Run(const compiler::OnnxBuilder& builder) {
  const absl::StatusOr<compiler::Model> model = compiler::ImportFile(builder.Save());
  REQUIRE_THAT(model, IsOk());
  TensorValue x;
  x.type = TensorType{ElementType::kF32, {2}};
  for (const double number : {2, 3}) {
    Scalar scalar;
    scalar.number = number;
    x.elements.push_back(scalar);
  }
  const absl::StatusOr<std::vector<TensorValue>> outputs = compiler::RunWhole(*model, {x});
  REQUIRE_THAT(outputs, IsOk());
  std::vector<double> numbers;
  for (const Scalar& element : outputs->front().elements) numbers.push_back(element.number);
  return numbers;
}

TEST_CASE("functions of one name are told apart by their overloads") {
  compiler::OnnxBuilder builder = Builder();
  AddFunction(builder, "Neg", "");
  AddFunction(builder, "Exp", "exp");
  AddFunction(builder, "Reciprocal", "one over");
  AddCall(builder, "x", "t", "");
  AddCall(builder, "t", "y", "one over");
  CHECK(Run(builder) == std::vector<double>{-1.0 / 2, static_cast<float>(-1.0 / 3)});
}

TEST_CASE("an overload that there is not, and two functions that nothing tells apart") {
  compiler::OnnxBuilder builder = Builder();
  AddFunction(builder, "Neg", "a");
  AddCall(builder, "x", "y", "b");
  CHECK_THAT(MessageOf(builder), Contains("node 'node_y' calls 'local.f' of overload 'b', and the "
                                          "model has functions of that name with other overloads"));
  AddFunction(builder, "Exp", "b");
  CHECK(MessageOf(builder) == "imported");
  AddFunction(builder, "Exp", "a");
  CHECK_THAT(MessageOf(builder),
             Contains("two functions of the model are 'local.f' of overload 'a'"));
}

TEST_CASE("a call says nothing that its function does not have") {
  const auto message = [](const std::function<void(::onnx::NodeProto&)>& change) {
    compiler::OnnxBuilder builder = Builder();
    AddFunction(builder, "Neg", "").add_attribute("slope");
    change(AddCall(builder, "x", "y", ""));
    return MessageOf(builder);
  };
  CHECK(message([](auto& call) { compiler::SetFloat(call, "slope", 1); }) == "imported");
  CHECK_THAT(message([](auto& call) { compiler::SetFloat(call, "slant", 1); }),
             Contains("node 'node_y', which calls the function 'f': attribute 'slant' is none of"));
  CHECK_THAT(message([](auto& call) {
               compiler::SetFloat(call, "slope", 1);
               compiler::SetFloat(call, "slope", 2);
             }),
             Contains("attribute 'slope' is given twice"));
  CHECK_THAT(message([](auto& call) { call.add_input("x"); }),
             Contains("it has 2 operands, and the function has 1"));
  CHECK_THAT(message([](auto& call) { call.add_output("z"); }),
             Contains("it has 2 outputs, and the function has 1"));
}

TEST_CASE("a function of another opset, where its operators mean the same in both, and not") {
  const auto message = [](const std::string& op_type, int64_t opset) {
    compiler::OnnxBuilder builder = Builder();  // of opset 17
    ::onnx::OperatorSetIdProto& own = *AddFunction(builder, op_type, "").add_opset_import();
    own.set_version(opset);
    AddCall(builder, "x", "y", "");
    return MessageOf(builder);
  };
  CHECK(message("Softmax", 13) == "imported");
  CHECK(message("Softmax", 18) == "imported");
  CHECK_THAT(message("Gelu", 20), Contains("and between these Gelu changed"));
  CHECK_THAT(message("Softmax", 12),
             Contains("the model is of opset 17 and its function 'f' of opset 12, and between "
                      "these Softmax changed: export both for one opset"));
}

}  // namespace
}  // namespace yuba::onnx
