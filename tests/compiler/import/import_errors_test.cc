// Every error that the importer can give says place, cause and next step; broken bytes never crash.
#include <catch2/catch.hpp>
#include <fstream>
#include <functional>
#include <random>
#include <sstream>

#include "tests/compiler/support/onnx_builder.h"
#include "tests/compiler/support/whole_model.h"

namespace yuba::onnx {
namespace {

using Catch::Matchers::Contains;

std::string MessageOf(const std::string& path, const ImportOptions& options = {}) {
  const absl::StatusOr<compiler::Model> model = compiler::ImportFile(path, options);
  return model.ok() ? "imported" : std::string(model.status().message());
}

// x [2, 3] -> relu -> y, changed by `change`.
std::string MessageOf(const std::function<void(::onnx::ModelProto&)>& change,
                      const ImportOptions& options = {}) {
  compiler::OnnxBuilder builder;
  builder.Input("x", {2, 3});
  builder.Node("Relu", {"x"}, {"y"});
  builder.Output("y");
  change(builder.proto());
  return MessageOf(builder.Save(), options);
}

std::string ReadBytes(const std::string& path) {
  std::ostringstream bytes;
  bytes << std::ifstream(path, std::ios::binary).rdbuf();
  return bytes.str();
}

TEST_CASE("files that are no models") {
  CHECK_THAT(MessageOf("tests/models/none.onnx"),
             Contains("tests/models/none.onnx") && Contains("No such file"));
  CHECK_THAT(MessageOf("tests/models"), Contains("Is a directory"));
  const std::string path = compiler::TemporaryFile("broken.onnx");
  compiler::WriteBytes(path, "");
  CHECK_THAT(MessageOf(path), Contains(path) && Contains("empty"));
  compiler::WriteBytes(path, "not a model at all, but text");
  CHECK_THAT(MessageOf(path), Contains(path) && Contains("ONNX"));
  const std::string whole = ReadBytes("tests/models/mlp/model.onnx");
  compiler::WriteBytes(path, whole.substr(0, whole.size() / 2));
  CHECK_THAT(MessageOf(path), Contains(path) && Contains("truncated"));
}

TEST_CASE("the unchanged model imports") {
  CHECK(MessageOf([](::onnx::ModelProto&) {}) == "imported");
}

TEST_CASE("a stored number is bound to a number of its type alone") {
  const auto bound = [](const TensorData& value) {
    compiler::OnnxBuilder builder;
    builder.Input("x", {2, 3});
    builder.Weight("factor", {});
    builder.Node("Mul", {"x", "factor"}, {"y"});
    builder.Output("y");
    ImportOptions options;
    options.bind["factor"] = value;
    return MessageOf(builder.Save(), options);
  };
  CHECK(bound({ElementType::kF32, {}, std::string(4, '\0')}) == "imported");
  CHECK(bound({ElementType::kF32, {1}, std::string(4, '\0')}) == "imported");
  CHECK_THAT(bound({ElementType::kF64, {}, std::string(8, '\0')}),
             Contains("--bind factor: the value is f64[], the stored number f32[]; give a value of "
                      "that type"));
  CHECK_THAT(bound({ElementType::kI64, {}, std::string(8, '\0')}), Contains("the value is i64[]"));
  CHECK_THAT(bound({ElementType::kF16, {}, std::string(2, '\0')}), Contains("the value is f16[]"));
  CHECK_THAT(bound({ElementType::kF32, {3}, std::string(12, '\0')}),
             Contains("the value is f32[3], the stored number f32[]"));
  CHECK_THAT(bound({ElementType::kF32, {0}, ""}), Contains("the value is f32[0]"));
}

TEST_CASE("an output that is declared otherwise than its nodes compute it") {
  const auto declared = [](const std::function<void(::onnx::TypeProto::Tensor&)>& change) {
    return MessageOf([&](::onnx::ModelProto& m) {
      ::onnx::TypeProto::Tensor* type =
          m.mutable_graph()->mutable_output(0)->mutable_type()->mutable_tensor_type();
      type->set_elem_type(::onnx::TensorProto::FLOAT);
      type->mutable_shape()->clear_dim();
      for (const int64_t dim : {2, 3}) type->mutable_shape()->add_dim()->set_dim_value(dim);
      change(*type);
    });
  };
  CHECK(declared([](auto&) {}) == "imported");
  CHECK(declared([](auto& type) { type.clear_shape(); }) == "imported");
  CHECK(declared([](auto& type) { type.mutable_shape()->mutable_dim(1)->set_dim_param("n"); }) ==
        "imported");
  CHECK_THAT(declared([](auto& type) { type.mutable_shape()->mutable_dim(1)->set_dim_value(9); }),
             Contains("output 'y' is declared f32[2, 9], and its nodes compute f32[2, 3]"));
  CHECK_THAT(declared([](auto& type) { type.mutable_shape()->add_dim(); }),
             Contains("declared f32[2, 3, ?]"));
  CHECK_THAT(declared([](auto& type) { type.set_elem_type(::onnx::TensorProto::DOUBLE); }),
             Contains("declared f64[2, 3], and its nodes compute f32[2, 3]"));
}

TEST_CASE("graphs that are wrong") {
  CHECK_THAT(
      MessageOf([](::onnx::ModelProto& m) {
        m.mutable_graph()->mutable_node(0)->add_output("z");
        m.mutable_graph()->mutable_output(0)->set_name("z");
      }),
      Contains("'node_y' (Relu)") && Contains("it has 2 outputs, and Relu-14 has at most 1"));
  CHECK_THAT(MessageOf([](::onnx::ModelProto& m) {
               m.mutable_graph()
                   ->mutable_input(0)
                   ->mutable_type()
                   ->mutable_tensor_type()
                   ->mutable_shape()
                   ->mutable_dim(1)
                   ->set_dim_value(-3);
             }),
             Contains("dimension 1 of input 'x' is -3, which no tensor has"));
  CHECK_THAT(MessageOf([](::onnx::ModelProto& m) {
               m.mutable_graph()->mutable_node(0)->set_input(0, "z");
             }),
             Contains("node_y") && Contains("'z'") && Contains("nothing gives"));
  CHECK_THAT(MessageOf([](::onnx::ModelProto& m) {
               m.mutable_graph()->mutable_node(0)->set_input(0, "y");
             }),
             Contains("cycle") && Contains("node_y"));
  CHECK_THAT(
      MessageOf([](::onnx::ModelProto& m) { *m.mutable_graph()->add_node() = m.graph().node(0); }),
      Contains("'y' is given twice"));
  CHECK_THAT(
      MessageOf([](::onnx::ModelProto& m) { m.mutable_graph()->mutable_output(0)->set_name("w"); }),
      Contains("'w' is made by no node"));
  CHECK_THAT(MessageOf([](::onnx::ModelProto& m) { m.mutable_graph()->clear_output(); }),
             Contains("no outputs"));
  CHECK_THAT(MessageOf([](::onnx::ModelProto& m) {
               *m.mutable_graph()->add_output() = m.graph().output(0);
             }),
             Contains("two outputs are named 'y'"));
  CHECK_THAT(MessageOf([](::onnx::ModelProto& m) { m.mutable_opset_import(0)->set_version(5); }),
             Contains("opset 5") && Contains("convert"));
  CHECK_THAT(MessageOf([](::onnx::ModelProto& m) { m.clear_opset_import(); }), Contains("version"));
  CHECK_THAT(MessageOf([](::onnx::ModelProto& m) { m.mutable_graph()->add_sparse_initializer(); }),
             Contains("sparse"));
}

TEST_CASE("inputs that cannot be used") {
  const auto tensor = [](::onnx::ModelProto& m) {
    return m.mutable_graph()->mutable_input(0)->mutable_type()->mutable_tensor_type();
  };
  CHECK_THAT(MessageOf([&](::onnx::ModelProto& m) { tensor(m)->set_elem_type(8); }),
             Contains("input 'x'") && Contains("STRING"));
  CHECK_THAT(MessageOf([&](::onnx::ModelProto& m) { tensor(m)->clear_shape(); }),
             Contains("input 'x'") && Contains("no shape"));
  CHECK_THAT(MessageOf([&](::onnx::ModelProto& m) {
               tensor(m)->mutable_shape()->mutable_dim(0)->set_dim_value(int64_t{1} << 40);
               tensor(m)->mutable_shape()->mutable_dim(1)->set_dim_value(int64_t{1} << 40);
             }),
             Contains("too many elements"));
  CHECK_THAT(MessageOf([&](::onnx::ModelProto& m) {
               tensor(m)->mutable_shape()->mutable_dim(0)->set_dim_param("rows");
               tensor(m)->mutable_shape()->mutable_dim(1)->set_dim_param("columns");
             }),
             Contains("--dim columns=N") && Contains("--dim rows=N"));
  ImportOptions options;
  options.dims["rows"] = 4;
  CHECK_THAT(MessageOf([](::onnx::ModelProto&) {}, options), Contains("--dim rows=4"));
}

TEST_CASE("all unsupported operators are named at once, with what to do") {
  const std::string message = MessageOf([](::onnx::ModelProto& m) {
    ::onnx::NodeProto* first = m.mutable_graph()->mutable_node(0);
    first->set_op_type("Frobnicate");
    first->set_output(0, "z");
    ::onnx::NodeProto* second = m.mutable_graph()->add_node();
    second->set_op_type("Unheard");
    second->set_domain("com.example");
    second->add_input("z");
    second->add_output("y");
  });
  CHECK_THAT(message, Contains("'node_y' (Frobnicate)") && Contains("com.example.Unheard") &&
                          Contains("opset 17") && Contains(".tdl") && Contains("--operators"));
}

TEST_CASE("shapes and attributes that do not fit name the node") {
  CHECK_THAT(MessageOf([](::onnx::ModelProto& m) {
               ::onnx::NodeProto* node = m.mutable_graph()->mutable_node(0);
               node->set_op_type("Softmax");
               compiler::SetInt(*node, "axis", 5);
             }),
             Contains("node_y") && Contains("axis 5"));
  CHECK_THAT(MessageOf([](::onnx::ModelProto& m) {
               ::onnx::NodeProto* node = m.mutable_graph()->mutable_node(0);
               node->set_op_type("Softmax");
               compiler::SetFloat(*node, "axis", 1);
             }),
             Contains("node_y") && Contains("'axis' must be an integer"));
  CHECK_THAT(MessageOf([](::onnx::ModelProto& m) {
               ::onnx::NodeProto* node = m.mutable_graph()->mutable_node(0);
               node->set_op_type("MatMul");
               node->add_input("x");
             }),
             Contains("node_y") && Contains("[2, 3]"));
  CHECK_THAT(MessageOf([](::onnx::ModelProto& m) {
               ::onnx::NodeProto* node = m.mutable_graph()->mutable_node(0);
               node->set_op_type("Reshape");
               node->add_input("x");
             }),
             Contains("node_y") && Contains("known when planning"));
}

::onnx::TensorProto* AddTensor(::onnx::ModelProto& m) {
  ::onnx::NodeProto* node = m.mutable_graph()->mutable_node(0);
  node->set_op_type("Add");
  node->add_input("w");
  ::onnx::TensorProto* tensor = m.mutable_graph()->add_initializer();
  tensor->set_name("w");
  tensor->set_data_type(::onnx::TensorProto::FLOAT);
  tensor->add_dims(3);
  return tensor;
}

void SetExternal(::onnx::TensorProto* tensor, const std::string& key, const std::string& value) {
  tensor->set_data_location(::onnx::TensorProto::EXTERNAL);
  ::onnx::StringStringEntryProto* entry = tensor->add_external_data();
  entry->set_key(key);
  entry->set_value(value);
}

std::string PadMessage(const std::vector<int64_t>& pads, const std::string& value) {
  compiler::OnnxBuilder builder;
  builder.Input("x", {2, 3});
  builder.Integers("pads", pads);
  builder.Node("Pad", {"x", "pads", value}, {"y"});
  builder.Output("y");
  return MessageOf(builder.Save());
}

TEST_CASE("pads and their value that cannot be") {
  // Found by mutating models: the pads given again as the value, which must be one element.
  CHECK_THAT(PadMessage({0, 0, 1, 1}, "pads"), Contains("node_y"));
  // The smallest number has no absolute value.
  for (int d = 0; d < 4; ++d) {
    std::vector<int64_t> pads(4, 1);
    pads[d] = INT64_MIN;
    CHECK_THAT(PadMessage(pads, ""), Contains("node_y") && Contains("a pad is too large"));
  }
}

TEST_CASE("tensors whose data is wrong") {
  CHECK_THAT(MessageOf([](::onnx::ModelProto& m) { AddTensor(m)->set_raw_data("12345"); }),
             Contains("tensor 'w'") && Contains("12 bytes") && Contains("5"));
  for (const char* place : {"/etc/passwd", "../w", "a/../../w"}) {
    CHECK_THAT(
        MessageOf([&](::onnx::ModelProto& m) { SetExternal(AddTensor(m), "location", place); }),
        Contains("tensor 'w'") && Contains(place) && Contains("beside the model"));
  }
  compiler::WriteBytes(compiler::TemporaryFile("w.data"), "0123456789");
  CHECK_THAT(
      MessageOf([](::onnx::ModelProto& m) { SetExternal(AddTensor(m), "location", "w.data"); }),
      Contains("w.data") && Contains("has only 10"));
  CHECK_THAT(MessageOf([](::onnx::ModelProto& m) {
               ::onnx::TensorProto* tensor = AddTensor(m);
               SetExternal(tensor, "location", "w.data");
               SetExternal(tensor, "offset", "9223372036854775807");
             }),
             Contains("w.data"));
  for (const char* key : {"offset", "length"}) {
    CHECK_THAT(MessageOf([&](::onnx::ModelProto& m) {
                 ::onnx::TensorProto* tensor = AddTensor(m);
                 SetExternal(tensor, "location", "w.data");
                 SetExternal(tensor, key, "-4");
               }),
               Contains("tensor 'w'") && Contains("is '-4', not a count of bytes"));
  }
  CHECK_THAT(MessageOf([](::onnx::ModelProto& m) {
               ::onnx::TensorProto* tensor = AddTensor(m);
               SetExternal(tensor, "location", "w.data");
               SetExternal(tensor, "length", "8");
             }),
             Contains("its data has 8 bytes, its shape and type need 12"));
  CHECK_THAT(
      MessageOf([](::onnx::ModelProto& m) { SetExternal(AddTensor(m), "location", "none"); }),
      Contains("tensor 'w'") && Contains("No such file"));
}

TEST_CASE("a batch that is none is refused") {
  ImportOptions options;
  options.batch = 0;
  CHECK_THAT(MessageOf("tests/models/mlp/model.onnx", options), Contains("--batch 0"));
}

TEST_CASE("a function that calls itself") {
  CHECK_THAT(MessageOf([](::onnx::ModelProto& m) {
               ::onnx::FunctionProto* function = m.add_functions();
               function->set_name("Loop");
               function->set_domain("local");
               function->add_input("a");
               function->add_output("b");
               ::onnx::NodeProto* call = function->add_node();
               call->set_op_type("Loop");
               call->set_domain("local");
               call->add_input("a");
               call->add_output("b");
               *m.mutable_graph()->mutable_node(0) = *call;
               m.mutable_graph()->mutable_node(0)->set_input(0, "x");
               m.mutable_graph()->mutable_node(0)->set_output(0, "y");
             }),
             Contains("calls itself"));
}

TEST_CASE("no broken bytes crash") {
  std::mt19937 random(7);
  const std::string path = compiler::TemporaryFile("fuzzed.onnx");
  int imported = 0, refused = 0;
  for (const char* name : {"conv", "lstm", "light_squeezenet"}) {
    const std::string whole = ReadBytes("tests/models/" + std::string(name) + "/model.onnx");
    for (int round = 0; round < 100; ++round) {
      std::string bytes = whole;
      for (int i = 0; i < 3; ++i) bytes[random() % bytes.size()] = static_cast<char>(random());
      if (round % 10 == 0) bytes.resize(random() % bytes.size());
      compiler::WriteBytes(path, bytes);
      ++(compiler::ImportFile(path).ok() ? imported : refused);
    }
  }
  CHECK(imported > 0);
  CHECK(refused > 0);
}

}  // namespace
}  // namespace yuba::onnx
