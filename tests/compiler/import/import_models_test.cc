// Whole models: what the importer makes of them, run by the interpreter, gives PyTorch's answers.
#include <catch2/catch.hpp>
#include <set>

#include "tests/compiler/support/onnx_builder.h"
#include "tests/compiler/support/whole_model.h"
#include "tests/support/status_matchers.h"

namespace yuba::onnx {
namespace {

const char* const kModels[] = {"mlp", "conv", "lstm", "gpt", "encoder"};

std::string Folder(const std::string& name) { return "tests/models/" + name; }

compiler::Model Import(const std::string& name, const ImportOptions& options = {}) {
  absl::StatusOr<compiler::Model> model =
      compiler::ImportFile(Folder(name) + "/model.onnx", options);
  REQUIRE_THAT(model, IsOk());
  return *std::move(model);
}

// The factors of the tensor of that name.
std::vector<std::vector<int64_t>> Factors(const compiler::Model& model, const std::string& name) {
  for (const Tensor& tensor : model.graph.tensors) {
    if (tensor.name == name) return tensor.dims;
  }
  FAIL("no tensor " << name);
  return {};
}

TEST_CASE("models compute what PyTorch computes") {
  for (const char* name : kModels) {
    INFO(name);
    const absl::StatusOr<double> error = compiler::ErrorOnTestData(Folder(name), 0);
    REQUIRE_THAT(error, IsOk());
    CHECK(*error < 2e-6);
  }
}

// The symbolic sizes of a set are those of its input.
TEST_CASE("models of today's exporter, at several sizes each") {
  const struct {
    const char* name;
    std::vector<const char*> dims;
    double tolerance;
    int sets = 3;
  } kModern[] = {{"decoder_opset18", {"batch", "sequence"}, 2e-5},
                 {"decoder_opset23", {"batch", "sequence"}, 2e-5},
                 {"resnet_opset21", {"batch", "", "height", "width"}, 2e-5, 2},
                 {"mlp_f16", {"batch"}, 4e-3},
                 {"mlp_bf16", {"batch"}, 2e-2}};
  for (const auto& modern : kModern) {
    for (int set = 0; set < modern.sets; ++set) {
      const std::string folder = Folder("modern/") + modern.name;
      INFO(folder << " set " << set);
      const absl::StatusOr<TensorValue> input = compiler::ReadTestTensor(
          folder + "/test_data_set_" + std::to_string(set) + "/input_0.pb");
      REQUIRE_THAT(input, IsOk());
      ImportOptions options;
      for (size_t d = 0; d < modern.dims.size(); ++d) {
        if (*modern.dims[d] != '\0') options.dims[modern.dims[d]] = input->type.dims[d];
      }
      const absl::StatusOr<double> error = compiler::ErrorOnTestData(folder, set, options);
      REQUIRE_THAT(error, IsOk());
      CHECK(*error < modern.tolerance);
    }
  }
}

TEST_CASE("with another batch each sample has the answer that it has alone") {
  // The file's own batch is written into shapes of gpt and encoder.
  for (const char* name : {"mlp", "conv", "gpt", "encoder"}) {
    const TensorValue file =
        *compiler::ReadTestTensor(Folder(name) + "/test_data_set_0/input_0.pb");
    const TensorValue answers =
        *compiler::ReadTestTensor(Folder(name) + "/test_data_set_0/output_0.pb");
    const size_t in = file.elements.size() / file.type.dims[0];
    const size_t out = answers.elements.size() / answers.type.dims[0];
    for (const int64_t batch : {1, 2, 16}) {
      INFO(name << " " << batch);
      ImportOptions options;
      options.batch = batch;
      const compiler::Model model = Import(name, options);
      TensorValue input = file, expected = answers;
      input.type.dims[0] = batch;
      expected.type.dims[0] = batch * answers.type.dims[0] / file.type.dims[0];
      input.elements.resize(batch * in);
      expected.elements.resize(batch * out);
      for (size_t i = 0; i < input.elements.size(); ++i)
        input.elements[i] = file.elements[i % file.elements.size()];
      for (size_t i = 0; i < expected.elements.size(); ++i)
        expected.elements[i] = answers.elements[i % answers.elements.size()];
      const absl::StatusOr<std::vector<TensorValue>> outputs = compiler::RunWhole(model, {input});
      REQUIRE_THAT(outputs, IsOk());
      const Tensor& output = model.graph.tensors[model.graph.outputs[0]];
      CHECK(compiler::LargestError((*outputs)[0], WholeDims(output), expected) < 2e-6);
    }
  }
}

TEST_CASE("weights that a stored shape fills are parameters") {
  const compiler::Model model = Import("light_squeezenet");
  int fills = 0;
  for (const auto& [tensor, value] : model.values) {
    if (value.kind != compiler::InitialValue::kFill) continue;
    CHECK(model.graph.tensors[tensor].kind == TensorKind::kParameter);
    ++fills;
  }
  CHECK(fills == 39);  // as many as the file has, some of them shared
  CHECK(model.graph.inputs.size() == 1);
}

std::string BytesOf(const compiler::InitialValue& value) {
  return value.kind == compiler::InitialValue::kFile ? ReadRange(value.range).value() : *value.data;
}

TEST_CASE("weights beside the model are those within it") {
  const absl::StatusOr<compiler::Model> inside =
      compiler::ImportFile(Folder("mlp") + "/model.onnx");
  const absl::StatusOr<compiler::Model> beside =
      compiler::ImportFile(Folder("mlp") + "/model_external.onnx");
  REQUIRE_THAT(inside, IsOk());
  REQUIRE_THAT(beside, IsOk());
  CHECK(inside->graph_hash == beside->graph_hash);
  int compared = 0;
  for (const auto& [tensor, value] : inside->values) {
    CHECK(BytesOf(value) == BytesOf(beside->values.at(tensor)));
    ++compared;
  }
  CHECK(compared == 6);
}

TEST_CASE("names are unique and say where a node came from") {
  for (const char* name : kModels) {
    const compiler::Model model = Import(name);
    std::set<std::string> names;
    for (const Tensor& tensor : model.graph.tensors) {
      INFO(name << " " << tensor.name);
      CHECK(!tensor.name.empty());
      CHECK(names.insert(tensor.name).second);
    }
    for (const Node& node : model.graph.nodes) CHECK(!node.from.empty());
  }
}

TEST_CASE("heads and gates become factors") {
  using Dims = std::vector<std::vector<int64_t>>;
  CHECK(Factors(Import("gpt"), "b.0.qkv.weight") == Dims{{3, 6, 8}, {48}});
  CHECK(Factors(Import("encoder"), "b.0.qkv.weight") == Dims{{3, 4, 12}, {48}});
  CHECK(Factors(Import("lstm"), "c.0.weight_hh") == Dims{{4, 40}, {40}});
}

TEST_CASE("views are no nodes") {
  for (const char* name : kModels) {
    const compiler::Model model = Import(name);
    for (const Node& node : model.graph.nodes) {
      INFO(name << " " << node.name);
      CHECK(node.op != "reshape");
      CHECK(node.op != "transpose");
    }
    CHECK(model.notes.empty());
  }
}

TEST_CASE("the mean of a window that lies in padding is 0") {
  compiler::OnnxBuilder builder;
  builder.Input("x", {1, 1, 2, 2});
  ::onnx::NodeProto& pool = builder.Node("AveragePool", {"x"}, {"y"});
  compiler::SetInts(pool, "kernel_shape", {2, 2});
  compiler::SetInts(pool, "pads", {2, 3, 2, 3});
  builder.Output("y");
  const absl::StatusOr<compiler::Model> model = compiler::ImportFile(builder.Save());
  REQUIRE_THAT(model, IsOk());
  const TensorValue ones{TensorType{ElementType::kF32, {1, 1, 2, 2}}, std::vector<Scalar>(4, {1})};
  const absl::StatusOr<std::vector<TensorValue>> outputs = compiler::RunWhole(*model, {ones});
  REQUIRE_THAT(outputs, IsOk());
  REQUIRE(outputs->front().type.dims == std::vector<int64_t>{1, 1, 5, 7});
  for (int64_t row = 0; row < 5; ++row) {
    for (int64_t column = 0; column < 7; ++column) {
      const bool inside = row >= 1 && row <= 3 && column >= 2 && column <= 4;
      CHECK(outputs->front().elements[static_cast<size_t>(7 * row + column)].number == inside);
    }
  }
}

}  // namespace
}  // namespace yuba::onnx
