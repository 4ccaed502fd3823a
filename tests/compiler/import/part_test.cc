// Parts of a model: cut by the names of tensors in front, behind, or both.
#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "tests/compiler/support/onnx_builder.h"
#include "tests/compiler/support/whole_model.h"
#include "tests/support/status_matchers.h"

namespace yuba::onnx {
namespace {

using Catch::Matchers::Contains;
using compiler::OnnxBuilder;

ImportOptions PartOf(std::vector<std::string> from, std::vector<std::string> to) {
  ImportOptions options;
  options.from_tensors = std::move(from);
  options.to_tensors = std::move(to);
  return options;
}

compiler::Model Import(const OnnxBuilder& builder, const ImportOptions& options) {
  absl::StatusOr<compiler::Model> model = compiler::ImportFile(builder.Save(), options);
  REQUIRE_THAT(model, IsOk());
  return *std::move(model);
}

std::string ErrorOf(const OnnxBuilder& builder, const ImportOptions& options) {
  const absl::StatusOr<compiler::Model> model = compiler::ImportFile(builder.Save(), options);
  REQUIRE_THAT(model, StatusIs(absl::StatusCode::kInvalidArgument));
  return std::string(model.status().message());
}

std::vector<std::string> Names(const Graph& graph, const std::vector<TensorId>& ids) {
  std::vector<std::string> names;
  for (const TensorId id : ids) names.push_back(OutputName(graph.tensors[id]));
  return names;
}

::onnx::TypeProto::Tensor& Declare(OnnxBuilder& builder, const std::string& name, int type) {
  ::onnx::ValueInfoProto* info = builder.proto().mutable_graph()->add_value_info();
  info->set_name(name);
  info->mutable_type()->mutable_tensor_type()->set_elem_type(type);
  info->mutable_type()->mutable_tensor_type()->mutable_shape();
  return *info->mutable_type()->mutable_tensor_type();
}

// x[4, 6], mask[4, 5] -> hidden = x w -> feature = Relu -> masked = feature * mask -> NonZero ->
// places[2, n] -> Cast -> y, and score = Exp(masked).
OnnxBuilder Detector() {
  OnnxBuilder builder;
  builder.Input("x", {4, 6});
  builder.Input("mask", {4, 5});
  builder.Weight("w", {6, 5});
  builder.Node("MatMul", {"x", "w"}, {"hidden"});
  builder.Node("Relu", {"hidden"}, {"feature"});
  builder.Node("Mul", {"feature", "mask"}, {"masked"});
  builder.Node("Exp", {"masked"}, {"score"});
  builder.Node("NonZero", {"masked"}, {"places"});
  compiler::SetInt(builder.Node("Cast", {"places"}, {"y"}), "to", ::onnx::TensorProto::FLOAT);
  builder.Output("y");
  builder.Output("score");
  return builder;
}

TEST_CASE("the part up to a tensor leaves out what cannot be planned behind it") {
  const compiler::Model model = Import(Detector(), PartOf({}, {"masked", "feature"}));
  CHECK(Names(model.graph, model.graph.inputs) == std::vector<std::string>{"x", "mask"});
  CHECK(Names(model.graph, model.graph.outputs) == std::vector<std::string>{"masked", "feature"});
  CHECK(model.file_nodes == 3);
  REQUIRE(model.notes.size() == 1);
  CHECK(model.notes[0] == "a part of the file: 3 of its 6 nodes");
}

TEST_CASE("inputs keep the file's numbers, and those that the part does not read are no inputs") {
  OnnxBuilder builder = Detector();
  builder.proto()
      .mutable_graph()
      ->mutable_input(1)
      ->mutable_type()
      ->mutable_tensor_type()
      ->mutable_shape()
      ->mutable_dim(0)
      ->set_dim_param("rows");  // nobody need say how many, where nothing reads the mask
  const compiler::Model to = Import(builder, PartOf({}, {"feature"}));
  CHECK(Names(to.graph, to.graph.inputs) == std::vector<std::string>{"x"});
  CHECK(to.file_inputs == std::vector<std::string>{"x", "mask"});
  const compiler::Model from = Import(Detector(), PartOf({"hidden"}, {"masked"}));
  CHECK(Names(from.graph, from.graph.inputs) == std::vector<std::string>{"mask", "hidden"});
  CHECK(from.file_inputs == std::vector<std::string>{"x", "mask", "hidden"});
}

TEST_CASE("the shape of a tensor at which a part begins comes from the nodes in front of it") {
  const compiler::Model model = Import(Detector(), PartOf({"feature"}, {"score"}));
  const Tensor& feature = model.graph.tensors[model.graph.inputs[1]];
  CHECK(feature.name == "feature");
  CHECK(WholeDims(feature) == std::vector<int64_t>{4, 5});
}

TEST_CASE("where nodes in front cannot tell it, the file or the user says it") {
  OnnxBuilder builder = Detector();
  CHECK_THAT(ErrorOf(builder, PartOf({"places"}, {"y"})),
             Contains("--from-tensors places: the file does not say its type and shape") &&
                 Contains("NonZero") && Contains("infer_shapes"));
  ::onnx::TypeProto::Tensor& type = Declare(builder, "places", ::onnx::TensorProto::INT64);
  type.mutable_shape()->add_dim()->set_dim_value(2);
  type.mutable_shape()->add_dim()->set_dim_param("found");
  CHECK_THAT(ErrorOf(builder, PartOf({"places"}, {"y"})), Contains("Give --dim found=N"));
  ImportOptions options = PartOf({"places"}, {"y"});
  options.dims["found"] = 7;
  const compiler::Model model = Import(builder, options);
  REQUIRE(model.graph.inputs.size() == 1);
  const Tensor& places = model.graph.tensors[model.graph.inputs[0]];
  CHECK(places.type.type == ElementType::kI64);
  CHECK(WholeDims(places) == std::vector<int64_t>{2, 7});
}

TEST_CASE("each entry has its own shape of a tensor at which a part begins") {
  OnnxBuilder builder;
  builder.Input("x", {4, 6});
  builder.proto()
      .mutable_graph()
      ->mutable_input(0)
      ->mutable_type()
      ->mutable_tensor_type()
      ->mutable_shape()
      ->mutable_dim(0)
      ->set_dim_param("rows");
  builder.Weight("w", {6, 5});
  builder.Node("MatMul", {"x", "w"}, {"hidden"});
  builder.Node("Relu", {"hidden"}, {"y"});
  builder.Output("y");
  ImportOptions options = PartOf({"hidden"}, {});
  options.entries = {{"many", {{"rows", 8}}, 1}, {"one", {{"rows", 1}}, 1}};
  const compiler::Model model = Import(builder, options);
  REQUIRE(model.graph.inputs.size() == 2);
  CHECK(WholeDims(model.graph.tensors[model.graph.inputs[0]]) == std::vector<int64_t>{8, 5});
  CHECK(WholeDims(model.graph.tensors[model.graph.inputs[1]]) == std::vector<int64_t>{1, 5});
}

TEST_CASE("of a file without weights a cut is an input, and parameters stay parameters") {
  OnnxBuilder builder;
  builder.Input("x", {4, 6});
  builder.Input("w", {6, 5});
  builder.Input("v", {5, 3});
  builder.Node("MatMul", {"x", "w"}, {"hidden"});
  builder.Node("MatMul", {"hidden", "v"}, {"y"});
  builder.Output("y");
  const compiler::Model model = Import(builder, PartOf({"hidden"}, {}));
  CHECK(Names(model.graph, model.graph.inputs) == std::vector<std::string>{"hidden"});
}

TEST_CASE("a node of which one output is a cut still makes the others") {
  OnnxBuilder builder;
  builder.Input("x", {4, 6});
  compiler::SetInt(builder.Node("Split", {"x"}, {"left", "right"}), "axis", 1);
  builder.Node("Add", {"left", "right"}, {"y"});
  builder.Output("y");
  const compiler::Model model = Import(builder, PartOf({"left"}, {}));
  CHECK(Names(model.graph, model.graph.inputs) == std::vector<std::string>{"x", "left"});
}

TEST_CASE("names of no tensor are errors that say which are near") {
  CHECK_THAT(ErrorOf(Detector(), PartOf({}, {"featur"})),
             Contains("--to-tensors featur: no tensor of the model has that name") &&
                 Contains("near are 'feature'"));
  CHECK_THAT(
      ErrorOf(Detector(), PartOf({"node_score"}, {})),
      Contains("--from-tensors node_score") && Contains("the node of that name makes 'score'"));
  CHECK_THAT(ErrorOf(Detector(), PartOf({}, {"feature", "feature"})),
             Contains("--to-tensors feature is given twice"));
  CHECK_THAT(ErrorOf(Detector(), PartOf({"w"}, {})), Contains("the file stores its value"));
  CHECK_THAT(ErrorOf(Detector(), PartOf({"score"}, {"feature"})),
             Contains("--from-tensors score: none of the outputs 'feature' needs it"));
}

}  // namespace
}  // namespace yuba::onnx
