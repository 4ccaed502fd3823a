// How parameters begin, by the file's training_info: what is understood, what is left to the user,
// and what is wrong.
#include "compiler/import/file/initialization.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <functional>

#include "compiler/import/file/read.h"
#include "compiler/import/file/replace_values.h"
#include "tests/compiler/support/onnx_builder.h"
#include "tests/compiler/support/whole_model.h"
#include "tests/support/status_matchers.h"

namespace yuba::onnx {
namespace {

using compiler::InitialValue;
using compiler::SetFloat;
using compiler::SetInt;
using compiler::SetInts;

// y = x w + b, where w is f32[3, 4] and b is f32[4]. w is normal, b is all 0.5.
class Drawn {
 public:
  Drawn() {
    builder.Input("x", {2, 3});
    builder.Input("w", {3, 4});
    builder.Input("mask", {4});
    builder.Input("b", {4});
    builder.Node("MatMul", {"x", "w"}, {"p"});
    builder.Node("Add", {"p", "b"}, {"q"});
    builder.Node("Mul", {"q", "mask"}, {"y"});
    builder.Output("y");
    ::onnx::NodeProto& normal = Add("RandomNormal", "w");
    SetInts(normal, "shape", {3, 4});
    SetFloat(normal, "scale", 0.25);
    SetFloat(normal, "seed", 7);
    ::onnx::NodeProto& fill = Add("ConstantOfShape", "b");
    fill.add_input("four");
    ::onnx::TensorProto& shape = *graph().add_initializer();
    shape.set_name("four");
    shape.set_data_type(::onnx::TensorProto::INT64);
    shape.add_dims(1);
    shape.add_int64_data(4);
    ::onnx::AttributeProto& value = *fill.add_attribute();
    value.set_name("value");
    value.mutable_t()->set_data_type(::onnx::TensorProto::FLOAT);
    value.mutable_t()->add_dims(1);
    value.mutable_t()->add_float_data(0.5);
  }

  ::onnx::TrainingInfoProto& training() {
    ::onnx::ModelProto& model = builder.proto();
    return model.training_info_size() > 0 ? *model.mutable_training_info(0)
                                          : *model.add_training_info();
  }
  ::onnx::GraphProto& graph() { return *training().mutable_initialization(); }
  ::onnx::NodeProto& node(int n) { return *graph().mutable_node(n); }

  // A node that makes the beginning of `name`.
  ::onnx::NodeProto& Add(const std::string& op, const std::string& name) {
    ::onnx::StringStringEntryProto& binding = *training().add_initialization_binding();
    binding.set_key(name);
    binding.set_value(name + ".initial");
    ::onnx::NodeProto& node = *graph().add_node();
    node.set_op_type(op);
    node.add_output(binding.value());
    return node;
  }

  compiler::OnnxBuilder builder;
};

const InitialValue& ValueOf(const compiler::Model& model, const std::string& name) {
  for (const auto& [id, value] : model.values) {
    if (model.graph.tensors[id].name == name) return value;
  }
  FAIL("no value of " << name);
  return model.values.begin()->second;
}

TEST_CASE("what training_info begins is a parameter, and all else an input") {
  Drawn drawn;
  const auto model = compiler::ImportFile(drawn.builder.Save());
  REQUIRE_THAT(model, IsOk());
  CHECK(model->graph.inputs.size() == 2);
  CHECK(model->file_inputs == std::vector<std::string>{"x", "mask"});
  const InitialValue &w = ValueOf(*model, "w"), &b = ValueOf(*model, "b");
  REQUIRE(w.kind == InitialValue::kDrawn);
  CHECK(w.draw.distribution == Draw::kNormal);
  CHECK(w.draw.first == 0);
  CHECK(w.draw.second == 0.25);
  REQUIRE(b.kind == InitialValue::kDrawn);
  CHECK(b.draw == Draw{Draw::kUniform, 0.5, 0.5, 0});
}

TEST_CASE("running statistics that training_info begins are moved by training alone") {
  Drawn drawn;
  ::onnx::GraphProto& graph = *drawn.builder.proto().mutable_graph();
  graph.mutable_node(2)->set_output(0, "h");
  for (const char* name : {"mean", "var"}) {
    drawn.builder.Input(name, {4});
    drawn.Add("ConstantOfShape", name).add_input("four");
  }
  SetInt(drawn.builder.Node("BatchNormalization", {"h", "b", "b", "mean", "var"}, {"y"}),
         "training_mode", 1);
  const auto moved = [&](const ImportOptions& options) {
    const auto model = compiler::ImportFile(drawn.builder.Save(), options);
    REQUIRE_THAT(model, IsOk());
    return std::count_if(
        model->graph.tensors.begin(), model->graph.tensors.end(), [](const Tensor& tensor) {
          return IsCarried(tensor) && (tensor.name == "mean" || tensor.name == "var");
        });
  };
  ImportOptions options;
  CHECK(moved(options) == 0);
  options.train = TrainOptions{"sgd", "mse"};
  CHECK(moved(options) == 2);
  // A constant stays as it is.
  ::onnx::GraphProto fixed = graph;
  graph.clear_node();
  ::onnx::NodeProto& constant = drawn.builder.Node("Constant", {}, {"one"});
  ::onnx::AttributeProto& value = *constant.add_attribute();
  value.set_name("value");
  value.set_type(::onnx::AttributeProto::TENSOR);
  value.mutable_t()->set_data_type(::onnx::TensorProto::FLOAT);
  value.mutable_t()->add_dims(4);
  for (int i = 0; i < 4; ++i) value.mutable_t()->add_float_data(1);
  graph.mutable_node()->MergeFrom(fixed.node());
  graph.mutable_node()->rbegin()->set_input(4, "one");
  CHECK(moved(options) == 1);
}

TEST_CASE("seeds are those of the file, or follow from names") {
  Drawn seven, eight;
  SetFloat(eight.node(0), "seed", 8);
  eight.node(0).mutable_attribute(2)->Swap(eight.node(0).mutable_attribute(3));
  eight.node(0).mutable_attribute()->RemoveLast();
  const auto seed = [](Drawn& drawn) {
    return ValueOf(compiler::ImportFile(drawn.builder.Save()).value(), "w").draw.seed;
  };
  const uint32_t first = seed(seven);
  CHECK(first != seed(eight));
  seven.node(0).mutable_attribute()->RemoveLast();
  const uint32_t named = seed(seven);
  CHECK(named != first);
  CHECK(named == seed(seven));
  seven.node(0).set_output(0, "another");
  seven.training().mutable_initialization_binding(0)->set_value("another");
  CHECK(named != seed(seven));
}

TEST_CASE("stored values of training_info, and of the graph, which come first") {
  Drawn drawn;
  ::onnx::TensorProto b;
  b.set_data_type(::onnx::TensorProto::FLOAT);
  b.add_dims(4);
  for (const float number : {1, 2, 3, 4}) b.add_float_data(number);
  b.set_name("b.initial");
  *drawn.graph().add_initializer() = b;
  const auto stored = compiler::ImportFile(drawn.builder.Save());
  REQUIRE_THAT(stored, IsOk());
  REQUIRE(ValueOf(*stored, "b").kind == InitialValue::kData);
  CHECK(ValueOf(*stored, "b").data->size() == 16);
  b.set_name("b");
  *drawn.builder.proto().mutable_graph()->add_initializer() = b;
  CHECK(ValueOf(compiler::ImportFile(drawn.builder.Save()).value(), "b").kind ==
        InitialValue::kData);
  // Now the file stores floats: w still is a parameter, and the mask an input.
  CHECK(compiler::ImportFile(drawn.builder.Save())->graph.inputs.size() == 2);
}

TEST_CASE("a beginning that is not understood is left to the user") {
  Drawn drawn;
  drawn.node(0).set_op_type("RandomNormalLike");
  const auto model = compiler::ImportFile(drawn.builder.Save());
  REQUIRE_THAT(model, IsOk());
  CHECK(ValueOf(*model, "w").kind == InitialValue::kMissing);
  REQUIRE(model->notes.size() == 1);
  CHECK(model->notes[0].find("w has no value: node number 0 (RandomNormalLike") !=
        std::string::npos);
}

TEST_CASE("beginnings that are wrong") {
  struct Fault {
    std::string message;
    std::function<void(Drawn&)> make;
  };
  const std::vector<Fault> faults = {
      {"training_info begins 'w' as f32[3, 5], and it is f32[3, 4]",
       [](Drawn& d) { d.node(0).mutable_attribute(0)->set_ints(1, 5); }},
      {"training_info begins 'w' as f64[3, 4], and it is f32[3, 4]",
       [](Drawn& d) { SetInt(d.node(0), "dtype", ::onnx::TensorProto::DOUBLE); }},
      {"training_info binds 'w': node number 0 (RandomNormal, makes 'w.initial'): it has no "
       "attribute 'shape'",
       [](Drawn& d) { d.node(0).mutable_attribute(0)->set_name("form"); }},
      {"its elements are i64",
       [](Drawn& d) { SetInt(d.node(0), "dtype", ::onnx::TensorProto::INT64); }},
      {"its numbers are 0 and inf",
       [](Drawn& d) { d.node(0).mutable_attribute(1)->set_f(HUGE_VALF); }},
      {"training_info binds 'w' twice",
       [](Drawn& d) { d.training().mutable_initialization_binding(1)->set_key("w"); }},
      {"training_info binds 'b': 'nothing', which nothing makes",
       [](Drawn& d) { d.training().mutable_initialization_binding(1)->set_value("nothing"); }},
      {"its shape 'four' is no list of integers",
       [](Drawn& d) {
         ::onnx::TensorProto& four = *d.graph().mutable_initializer(0);
         four.clear_dims();
       }},
      {"its value is not one element",
       [](Drawn& d) {
         d.node(1).mutable_attribute(0)->mutable_t()->set_dims(0, 2);
         d.node(1).mutable_attribute(0)->mutable_t()->add_float_data(2);
       }},
  };
  for (const Fault& fault : faults) {
    Drawn drawn;
    fault.make(drawn);
    INFO(fault.message);
    CHECK_THAT(compiler::ImportFile(drawn.builder.Save()),
               StatusIs(absl::StatusCode::kInvalidArgument, fault.message));
  }
}

}  // namespace
}  // namespace yuba::onnx
