// Nodes that compute something else in training: how files of each version say so.
#include <catch2/catch.hpp>
#include <set>
#include <string>
#include <vector>

#include "tests/compiler/support/onnx_builder.h"
#include "tests/compiler/support/whole_model.h"
#include "tests/support/status_matchers.h"

namespace yuba::onnx {
namespace {

using compiler::OnnxBuilder;

compiler::Model Import(const OnnxBuilder& builder, bool trains) {
  ImportOptions options;
  if (trains) options.train = TrainOptions{"sgd", "mse", "", {}};
  absl::StatusOr<compiler::Model> model = compiler::ImportFile(builder.Save(), options);
  REQUIRE_THAT(model, IsOk());
  return *std::move(model);
}

std::multiset<std::string> DefinitionsOf(const compiler::Model& model) {
  std::multiset<std::string> definitions;
  for (const Node& node : model.graph.nodes) definitions.insert(ToString(*node.definition));
  return definitions;
}

// The norm of x with these outputs.
OnnxBuilder Norm(int64_t opset, const std::vector<std::string>& outputs, bool says_training) {
  OnnxBuilder builder(opset);
  builder.Input("x", {6, 3});
  for (const char* name : {"scale", "bias", "mean", "variance"}) builder.Weight(name, {3});
  ::onnx::NodeProto& norm =
      builder.Node("BatchNormalization", {"x", "scale", "bias", "mean", "variance"}, outputs);
  if (says_training) compiler::SetInt(norm, "training_mode", 1);
  builder.Output("y");
  return builder;
}

TEST_CASE("before opset 14 a batch norm with several outputs normalizes by the batch") {
  const std::vector<std::string> five = {"y", "m", "v", "saved_m", "saved_v"};
  for (const bool trains : {false, true}) {
    const auto by_batch = DefinitionsOf(Import(Norm(15, {"y", "m", "v"}, true), trains));
    const auto by_statistics = DefinitionsOf(Import(Norm(15, {"y"}, false), trains));
    CHECK(by_batch != by_statistics);
    for (const int64_t opset : {7, 9, 13}) {
      CHECK(DefinitionsOf(Import(Norm(opset, five, false), trains)) == by_batch);
      CHECK(DefinitionsOf(Import(Norm(opset, {"y", "", "", "", "saved"}, false), trains)) ==
            by_batch);
      CHECK(DefinitionsOf(Import(Norm(opset, {"y"}, false), trains)) == by_statistics);
      CHECK(DefinitionsOf(Import(Norm(opset, {"y", "", "", "", ""}, false), trains)) ==
            by_statistics);
    }
  }
}

OnnxBuilder Dropped(int64_t opset, float rate) {
  OnnxBuilder builder(opset);
  builder.Input("x", {6, 4});
  builder.Weight("w", {4, 4});
  builder.Node("MatMul", {"x", "w"}, {"h"});
  if (rate >= 0) {
    compiler::SetFloat(builder.Node("Dropout", {"h"}, {"d", "mask"}), "ratio", rate);
  } else {
    builder.Node("Identity", {"h"}, {"d"});
  }
  builder.Node("Tanh", {"d"}, {"y"});
  builder.Output("y");
  return builder;
}

bool Draws(const compiler::Model& model) {
  for (const std::string& definition : DefinitionsOf(model)) {
    if (definition.find("random") != std::string::npos) return true;
  }
  return false;
}

TEST_CASE("before opset 12 a dropout drops in steps that train") {
  for (const int64_t opset : {7, 10, 11}) {
    CHECK(Draws(Import(Dropped(opset, 0.5f), true)));
    CHECK_FALSE(Draws(Import(Dropped(opset, 0), true)));
    CHECK(DefinitionsOf(Import(Dropped(opset, 0.5f), false)) ==
          DefinitionsOf(Import(Dropped(opset, -1), false)));
  }
  CHECK_FALSE(Draws(Import(Dropped(13, -1), true)));
}

// A norm of statistics 0 and 1 that is used twice, with the nodes in this order in the file.
OnnxBuilder Twice(const std::vector<std::string>& order, bool of_each_other) {
  OnnxBuilder builder;
  builder.Input("x", {2, 2});
  for (const char* name : {"scale", "bias", "mean", "variance"}) {
    builder.Weight(name, {2});
    auto& stored = *builder.proto().mutable_graph()->mutable_initializer()->rbegin();
    for (const int i : {0, 1}) stored.set_float_data(i, name[0] == 's' || name[0] == 'v' ? 1 : 0);
  }
  builder.Integers("ten", {10});
  builder.Node("CastLike", {"ten", "x"}, {"many"});
  builder.Node("Mul", {"x", "many"}, {"x2"});
  for (const std::string& y : order) {
    const std::string x = y == "y1" ? "x" : of_each_other ? "y1" : "x2";
    ::onnx::NodeProto& norm =
        builder.Node("BatchNormalization", {x, "scale", "bias", "mean", "variance"}, {y});
    compiler::SetInt(norm, "training_mode", 1);
    compiler::SetFloat(norm, "momentum", 0.5);
  }
  builder.Node("Sub", {"y2", "y1"}, {"y"});
  builder.Output("y");
  return builder;
}

// The running mean after a step for x = {{1, 1}, {3, 3}}, whose mean is 2.
double MeanAfter(const OnnxBuilder& builder) {
  const compiler::Model model = Import(builder, true);
  TensorValue x{{ElementType::kF32, {2, 2}}, {}}, labels = x;
  x.elements = {Scalar{1.0}, Scalar{1.0}, Scalar{3.0}, Scalar{3.0}};
  labels.elements.assign(4, Scalar{0.0});
  const auto outputs = compiler::RunWhole(model, {x, labels});
  REQUIRE_THAT(outputs, IsOk());
  std::vector<double> means;
  for (size_t i = 0; i < model.graph.outputs.size(); ++i) {
    if (model.graph.tensors[model.graph.outputs[i]].name == "mean")
      means.push_back((*outputs)[i].elements[0].number);
  }
  REQUIRE(means.size() == 1);
  return means[0];
}

TEST_CASE("a norm that is used twice moves its statistics in the order of the file") {
  CHECK(MeanAfter(Twice({"y1", "y2"}, false)) == Approx((0 + 2) / 2.0 / 2 + 20 / 2.0));
  CHECK(MeanAfter(Twice({"y2", "y1"}, false)) == Approx(20 / 2.0 / 2 + 2 / 2.0));
  CHECK(MeanAfter(Twice({"y1", "y2"}, true)) == Approx(2 / 2.0 / 2 + 0).margin(1e-6));
}

}  // namespace
}  // namespace yuba::onnx
