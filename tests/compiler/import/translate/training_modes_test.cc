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

}  // namespace
}  // namespace yuba::onnx
