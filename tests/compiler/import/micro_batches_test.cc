// Training in micro-batches: the entry `micro` adds up gradients of parts of a batch, and `step`
// updates with their mean.
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

// y = x w, of 12 examples.
OnnxBuilder Product() {
  OnnxBuilder builder;
  builder.Input("x", {12, 4});
  builder.Weight("w", {4, 3});
  builder.Node("MatMul", {"x", "w"}, {"y"});
  builder.Output("y");
  return builder;
}

ImportOptions InParts(int64_t micro_batches) {
  ImportOptions options;
  options.train = TrainOptions{"momentum", "softmax-cross-entropy", "", {}};
  options.train->micro_batches = micro_batches;
  return options;
}

Graph GraphOf(const OnnxBuilder& builder, const ImportOptions& options) {
  absl::StatusOr<compiler::Model> model = compiler::ImportFile(builder.Save(), options);
  REQUIRE_THAT(model, IsOk());
  return model->graph;
}

// The tensors that an entry writes and that are kept.
std::set<std::string> WrittenBy(const Graph& graph, const std::string& entry) {
  std::set<std::string> names;
  for (const Node& node : graph.nodes) {
    const Tensor& result = graph.tensors[node.result];
    if (graph.entries[node.entry].name == entry && IsStored(result.kind)) names.insert(result.name);
  }
  return names;
}

std::vector<std::string> EntriesOf(const Graph& graph) {
  std::vector<std::string> entries;
  for (const Entry& entry : graph.entries) {
    entries.push_back(entry.name + " " + std::to_string(entry.times));
  }
  return entries;
}

TEST_CASE("gradients are added up in one entry, and used in another") {
  const Graph graph = GraphOf(Product(), InParts(4));
  CHECK(EntriesOf(graph) == std::vector<std::string>{"micro 4", "step 1"});
  CHECK(WrittenBy(graph, "micro") ==
        std::set<std::string>{"loss_weight.gradient", "part", "w.gradient"});
  CHECK(WrittenBy(graph, "step") == std::set<std::string>{"w", "w.v"});
  for (const TensorId input : graph.inputs) CHECK(graph.tensors[input].type.dims[0] == 3);
}

TEST_CASE("one micro-batch is a step without any") {
  const Graph graph = GraphOf(Product(), InParts(1));
  CHECK(EntriesOf(graph) == std::vector<std::string>{"step 1"});
  CHECK(WrittenBy(graph, "step") == std::set<std::string>{"w", "w.v"});
}

TEST_CASE("evaluation and clipping have their places") {
  ImportOptions options = InParts(3);
  options.train->eval_every = 10;
  options.train->clip = 1;
  const Graph graph = GraphOf(Product(), options);
  CHECK(EntriesOf(graph) == std::vector<std::string>{"eval 1", "micro 30", "step 10"});
  CHECK(WrittenBy(graph, "eval").empty());
  std::set<std::string> outputs;
  for (const Node& node : graph.nodes) {
    const Tensor& result = graph.tensors[node.result];
    if (result.name == "gradient_norm") CHECK(graph.entries[node.entry].name == "step");
    if (result.name == "micro:loss") CHECK(graph.entries[node.entry].name == "micro");
    outputs.insert(result.name);
  }
  CHECK(outputs.count("gradient_norm") + outputs.count("micro:loss") == 2);
  CHECK(graph.inputs.size() == 2);  // evaluation takes a micro-batch too
}

TEST_CASE("a batch that has not so many equal parts is refused") {
  CHECK_THAT(compiler::ImportFile(Product().Save(), InParts(5)),
             Fails("--micro-batches 5: input 'x' has 12 examples a step"));
  ImportOptions options = InParts(5);
  options.batch = 20;
  const Graph graph = GraphOf(Product(), options);
  CHECK(graph.tensors[graph.inputs[0]].type.dims[0] == 4);
}

TEST_CASE("a symbolic batch is divided wherever it stands, once") {
  OnnxBuilder builder = Product();
  builder.Input("turned", {3, 12});
  builder.Node("Transpose", {"turned"}, {"t"});
  builder.Node("Add", {"y", "t"}, {"z"});
  builder.proto().mutable_graph()->clear_output();
  builder.Output("z");
  builder.proto()
      .mutable_graph()
      ->mutable_input(1)
      ->mutable_type()
      ->mutable_tensor_type()
      ->mutable_shape()
      ->mutable_dim(1)
      ->set_dim_param("batch");
  auto* dim = builder.proto()
                  .mutable_graph()
                  ->mutable_input(0)
                  ->mutable_type()
                  ->mutable_tensor_type()
                  ->mutable_shape()
                  ->mutable_dim(0);
  dim->set_dim_param("batch");
  ImportOptions options = InParts(4);
  options.dims["batch"] = 32;
  const Graph graph = GraphOf(builder, options);
  REQUIRE(graph.inputs.size() == 3);
  CHECK(graph.tensors[graph.inputs[0]].type.dims == std::vector<int64_t>{8, 4});
  CHECK(graph.tensors[graph.inputs[1]].type.dims == std::vector<int64_t>{3, 8});
  CHECK(graph.tensors[graph.inputs[2]].type.dims == std::vector<int64_t>{8});
  options.dims["batch"] = 33;
  CHECK_THAT(compiler::ImportFile(builder.Save(), options), Fails("has 33 examples a step"));
}

TEST_CASE("a graph that the file's batch is built into is refused") {
  OnnxBuilder builder = Product();
  builder.Integers("first", {0});
  builder.Integers("end", {2});
  builder.Node("Slice", {"y", "first", "end"}, {"two"});
  builder.proto().mutable_graph()->clear_output();
  builder.Output("two");
  CHECK_THAT(compiler::ImportFile(builder.Save(), InParts(1)), IsOk());
  CHECK_THAT(compiler::ImportFile(builder.Save(), InParts(4)),
             Fails("reads only some elements along"));
}

TEST_CASE("what counts no examples stays whole") {
  OnnxBuilder builder = Product();
  builder.Input("scale", {3});
  builder.Node("Mul", {"y", "scale"}, {"z"});
  builder.proto().mutable_graph()->clear_output();
  builder.Output("z");
  const Graph graph = GraphOf(builder, InParts(4));
  CHECK(graph.tensors[graph.inputs[0]].type.dims == std::vector<int64_t>{3, 4});
  CHECK(graph.tensors[graph.inputs[1]].type.dims == std::vector<int64_t>{3});
}

}  // namespace
}  // namespace yuba::onnx
