// Which tensors of a file are weights: inputs of files without any, stored integers, and what is
// computed from weights alone.
#include "search/plan/weights.h"

#include <algorithm>
#include <catch2/catch.hpp>

#include "opsemantics/language/library.h"
#include "tests/compiler/support/onnx_builder.h"
#include "tests/compiler/support/whole_model.h"
#include "tests/support/status_matchers.h"

namespace yuba::onnx {
namespace {

compiler::Model Import(const compiler::OnnxBuilder& builder, const char* descriptions = "") {
  OperatorLibrary library = OperatorLibrary::BuiltIn().value();
  REQUIRE_THAT(library.Add("mine.tdl", descriptions), IsOk());
  ImportOptions options;
  options.library = &library;
  absl::StatusOr<compiler::Model> model = compiler::ImportFile(builder.Save(), options);
  REQUIRE_THAT(model, IsOk());
  return *std::move(model);
}

std::vector<std::string> StoredWeights(const Graph& graph) {
  std::vector<std::string> names;
  for (size_t t = 0; t < graph.tensors.size(); ++t) {
    if (search::IsStoredWeight(graph, static_cast<TensorId>(t)))
      names.push_back(graph.tensors[t].name);
  }
  std::sort(names.begin(), names.end());
  return names;
}

void AddFloats(compiler::OnnxBuilder& builder, const std::vector<int64_t>& dims) {
  builder.Weight("factor", dims);
  builder.Node("Mul", {"a", "factor"}, {"y"});
  builder.Output("y");
}

TEST_CASE("one stored number leaves inputs weights, several do not") {
  for (const std::vector<int64_t>& dims : {std::vector<int64_t>{}, {1}, {1, 1}, {4}, {1, 4}}) {
    compiler::OnnxBuilder builder;
    builder.Input("x", {2, 3});
    builder.Input("w", {3, 4});
    builder.Node("MatMul", {"x", "w"}, {"a"});
    AddFloats(builder, dims);
    const compiler::Model model = Import(builder);
    const bool several = !dims.empty() && dims.back() > 1;
    CHECK(StoredWeights(model.graph) == std::vector<std::string>{several ? "factor" : "w"});
    CHECK(model.graph.inputs.size() == (several ? 2 : 1));
  }
}

constexpr char kDequantise[] =
    "op DequantizeLinear(x[n..]: int, scale[]) -> y[n..]\n  y[i..] = cast(x[i..], f32) * scale[]\n";

TEST_CASE("stored integers are weights where numbers are made of them") {
  compiler::OnnxBuilder builder;
  builder.Input("x", {2, 128});
  builder.Integers("rows", {4, 0});
  builder.Integers("shape", {16, 16});
  builder.Weight("scale", {});
  builder.Weight("table", {5, 128});
  ::onnx::TensorProto& quantised = *builder.proto().mutable_graph()->add_initializer();
  quantised.set_name("q");
  quantised.set_data_type(::onnx::TensorProto::INT8);
  quantised.add_dims(128);
  quantised.add_dims(128);
  std::string values(128 * 128, '\0');
  for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<char>(i % 7);
  quantised.set_raw_data(values);
  builder.Node("DequantizeLinear", {"q", "scale"}, {"w"});
  builder.Node("Gather", {"table", "rows"}, {"looked_up"});
  builder.Node("MatMul", {"x", "w"}, {"a"});
  builder.Node("Add", {"a", "looked_up"}, {"b"});
  builder.Node("Reshape", {"b", "shape"}, {"c"});
  builder.Node("Neg", {"c"}, {"y"});
  builder.Output("y");
  const Graph graph = Import(builder, kDequantise).graph;
  CHECK(StoredWeights(graph) == std::vector<std::string>{"q", "table"});
  const std::vector<bool> weights = search::WeightTensors(graph);
  for (size_t t = 0; t < graph.tensors.size(); ++t) {
    const std::string& name = graph.tensors[t].name;
    INFO(name);
    const bool expected = name == "q" || name == "w" || name == "table" || name == "looked_up";
    CHECK(weights[t] == expected);
  }
}

}  // namespace
}  // namespace yuba::onnx
