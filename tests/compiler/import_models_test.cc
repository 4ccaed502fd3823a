// Whole models: what the importer makes of them, run by the interpreter, gives PyTorch's answers.
#include <catch2/catch.hpp>
#include <set>

#include "tests/compiler/whole_model.h"

namespace yuba {
namespace {

const char* const kModels[] = {"mlp", "conv", "lstm", "gpt", "encoder"};

std::string Folder(const std::string& name) { return "tests/models/" + name; }

Model Import(const std::string& name, const ImportOptions& options = {}) {
  absl::StatusOr<Model> model = ImportFile(Folder(name) + "/model.onnx", options);
  INFO(model.status());
  REQUIRE(model.ok());
  return *std::move(model);
}

// The factors of the tensor of that name.
std::vector<std::vector<int64_t>> Factors(const Model& model, const std::string& name) {
  for (const Tensor& tensor : model.graph.tensors) {
    if (tensor.name == name) return tensor.dims;
  }
  FAIL("no tensor " << name);
  return {};
}

TEST_CASE("models compute what PyTorch computes") {
  for (const char* name : kModels) {
    INFO(name);
    const absl::StatusOr<double> error = ErrorOnTestData(Folder(name), 0);
    INFO(error.status());
    REQUIRE(error.ok());
    CHECK(*error < 2e-6);
  }
}

TEST_CASE("weights beside the model are read") {
  const absl::StatusOr<Model> inside = ImportFile(Folder("mlp") + "/model.onnx");
  const absl::StatusOr<Model> beside = ImportFile(Folder("mlp") + "/model_external.onnx");
  INFO(beside.status());
  REQUIRE((inside.ok() && beside.ok()));
  CHECK(inside->graph_hash == beside->graph_hash);
  int compared = 0;
  for (const auto& [tensor, value] : inside->values) {
    CHECK(*value.data == *beside->values.at(tensor).data);
    ++compared;
  }
  CHECK(compared == 6);
}

TEST_CASE("names are unique and say where a node came from") {
  for (const char* name : kModels) {
    const Model model = Import(name);
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
    const Model model = Import(name);
    for (const Node& node : model.graph.nodes) {
      INFO(name << " " << node.name);
      CHECK(node.op != "reshape");
      CHECK(node.op != "transpose");
    }
    CHECK(model.notes.empty());
  }
}

}  // namespace
}  // namespace yuba
