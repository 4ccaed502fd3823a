// Training that evaluates between steps: the entry `eval` computes what the model infers.
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
using compiler::SetInt;

void AddScalar(OnnxBuilder& builder, const std::string& name, bool is_bool, float value) {
  ::onnx::TensorProto& scalar = *builder.proto().mutable_graph()->add_initializer();
  scalar.set_name(name);
  scalar.set_data_type(is_bool ? ::onnx::TensorProto::BOOL : ::onnx::TensorProto::FLOAT);
  if (is_bool) {
    scalar.add_int32_data(value != 0);
  } else {
    scalar.add_float_data(value);
  }
}

// A product, a batch norm and a dropout, as they are trained or as they infer.
OnnxBuilder Normed(bool trains) {
  OnnxBuilder builder;
  builder.Input("x", {6, 4});
  builder.Weight("w", {4, 3});
  for (const char* name : {"scale", "bias", "mean", "variance"}) builder.Weight(name, {3});
  AddScalar(builder, "rate", false, 0.5);
  AddScalar(builder, "on", true, trains);
  builder.Node("MatMul", {"x", "w"}, {"h"});
  std::vector<std::string> outputs = {"y"};
  if (trains) outputs = {"y", "next_mean", "next_variance"};
  ::onnx::NodeProto& norm =
      builder.Node("BatchNormalization", {"h", "scale", "bias", "mean", "variance"}, outputs);
  if (trains) SetInt(norm, "training_mode", 1);
  builder.Node("Dropout", {"y", "rate", "on"}, {"z"});
  builder.Output("z");
  return builder;
}

compiler::Model Trained(const OnnxBuilder& builder, int64_t eval_every) {
  ImportOptions options;
  options.train = TrainOptions{"sgd", "softmax-cross-entropy", "", {}};
  options.train->eval_every = eval_every;
  absl::StatusOr<compiler::Model> model = compiler::ImportFile(builder.Save(), options);
  REQUIRE_THAT(model, IsOk());
  return *std::move(model);
}

std::multiset<std::string> DefinitionsOf(const Graph& graph, const std::string& entry) {
  std::multiset<std::string> definitions;
  for (const Node& node : graph.nodes) {
    if (graph.entries[node.entry].name == entry) definitions.insert(ToString(*node.definition));
  }
  return definitions;
}

TEST_CASE("batch norms use their running statistics, and dropouts drop nothing") {
  const Graph trained = Trained(Normed(true), 10).graph;
  const Graph inferred = Trained(Normed(false), 10).graph;
  CHECK(DefinitionsOf(trained, "eval") == DefinitionsOf(inferred, "eval"));
  CHECK(DefinitionsOf(trained, "step") != DefinitionsOf(inferred, "step"));
  CHECK(trained.entries[0].times == 1);
  CHECK(trained.entries[1].times == 10);
}

TEST_CASE("the step is that of training without evaluation") {
  for (const bool trains : {true, false}) {
    const Graph alone = Trained(Normed(trains), 0).graph, both = Trained(Normed(trains), 7).graph;
    CHECK(DefinitionsOf(alone, "step") == DefinitionsOf(both, "step"));
    for (const Node& node : both.nodes) {  // evaluation changes nothing
      if (node.entry == 0) CHECK(both.tensors[node.result].kind == TensorKind::kActivation);
    }
  }
}

TEST_CASE("next values of states are outputs of training alone") {
  OnnxBuilder builder = Normed(true);
  builder.Input("count", {2});
  builder.Node("Add", {"count", "count"}, {"next_count"});
  for (const char* output : {"next_count", "next_mean", "next_variance"}) builder.Output(output);
  ImportOptions options;
  options.train = TrainOptions{"sgd", "softmax-cross-entropy", "", {}};
  options.train->eval_every = 3;
  options.state["next_count"] = "count";
  const absl::StatusOr<compiler::Model> model = compiler::ImportFile(builder.Save(), options);
  REQUIRE_THAT(model, IsOk());
  for (const Node& node : model->graph.nodes) {
    if (node.entry == 0) CHECK(model->graph.tensors[node.result].kind == TensorKind::kActivation);
  }
}

TEST_CASE("draws that evaluation would change are refused") {
  OnnxBuilder builder = Normed(true);
  builder.Node("RandomNormalLike", {"z"}, {"noise"});
  builder.Node("Add", {"z", "noise"}, {"noisy"});
  builder.Output("noisy");
  ImportOptions options;
  options.train = TrainOptions{"sgd", "softmax-cross-entropy", "noisy", {}};
  CHECK_THAT(compiler::ImportFile(builder.Save(), options), IsOk());
  options.train->eval_every = 3;
  CHECK_THAT(compiler::ImportFile(builder.Save(), options), Fails("leave out --eval-entry"));
}

TEST_CASE("entries share inputs, and each has a loss of its own") {
  const Graph graph = Trained(Normed(true), 10).graph;
  CHECK(graph.inputs.size() == 2);  // x and labels
  std::set<std::string> outputs;
  for (const TensorId output : graph.outputs) outputs.insert(graph.tensors[output].name);
  CHECK(outputs.count("eval:loss") == 1);
  CHECK(outputs.count("step:loss") == 1);
}

TEST_CASE("a value called as one of an entry will be is an error") {
  OnnxBuilder builder;
  builder.Input("x", {6, 4});
  builder.Weight("eval:loss", {4, 3});
  builder.Node("MatMul", {"x", "eval:loss"}, {"y"});
  builder.Output("y");
  ImportOptions options;
  options.train = TrainOptions{"sgd", "softmax-cross-entropy", "", {}};
  CHECK_THAT(compiler::ImportFile(builder.Save(), options), IsOk());
  options.train->eval_every = 1;
  CHECK_THAT(
      compiler::ImportFile(builder.Save(), options),
      StatusIs(absl::StatusCode::kInvalidArgument,
               "the model has a value 'eval:loss', which is what a value of the entry eval"));
}

}  // namespace
}  // namespace yuba::onnx
