// Attention is found by what nodes compute, forward and in training.
#include "compiler/attention/attention.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <iostream>

#include "absl/strings/str_cat.h"
#include "compiler/phases.h"
#include "opsemantics/base/files.h"
#include "opsemantics/language/library.h"
#include "tests/support/status_matchers.h"
#include "tools/zoo/zoo.h"

namespace yuba::compiler {
namespace {

struct Case {
  std::string model;
  zoo::Sizes sizes;
  std::string optimizer;
  absl::optional<ElementType> precision;
};

Model ModelOf(const Case& test) {
  static const absl::StatusOr<OperatorLibrary> library = OperatorLibrary::BuiltIn();
  REQUIRE_THAT(library, IsOk());
  const auto made = zoo::MakeModel(test.model, test.sizes);
  REQUIRE_THAT(made, IsOk());
  const char* const folder = std::getenv("TEST_TMPDIR");
  static int files = 0;
  const std::string file =
      absl::StrCat(folder == nullptr ? "/tmp" : folder, "/attention", files++, ".onnx");
  REQUIRE_THAT(WriteFile(file, made->bytes), IsOk());
  Compilation compilation;
  compilation.request.model_file = file;
  compilation.request.import.library = &*library;
  if (!test.optimizer.empty()) {
    onnx::TrainOptions train{test.optimizer, made->loss, "", {}};
    train.precision = test.precision;
    compilation.request.import.train = train;
  }
  PhaseOptions options;
  options.to = "cluster";
  REQUIRE_THAT(RunPhases(options, compilation), IsOk());
  return std::move(compilation.model);
}

TEST_CASE("attention of models of the zoo is found") {
  const Case cases[] = {
      {"gpt2", {{"layers", 2}}, "", {}},
      {"llama", {{"layers", 2}}, "", {}},
      {"gpt2", {{"layers", 2}}, "adam", {}},
      {"llama", {{"layers", 2}}, "adam", ElementType::kBF16},
      {"bert", {{"layers", 2}}, "adam", {}},
      {"vit", {{"layers", 2}}, "adam", {}},
  };
  for (const Case& test : cases) {
    const Model model = ModelOf(test);
    const std::vector<Attention> found = FindAttention(model.graph);
    if (std::getenv("YUBA_PRINT") != nullptr) {
      std::cout << "==== " << test.model << " " << test.optimizer << " " << found.size() << "\n";
      for (const Node& node : model.graph.nodes) {
        std::cout << node.name << " [" << node.op << "] " << ToString(*node.definition) << " <-";
        for (const TensorId o : node.operands) std::cout << " " << model.graph.tensors[o].name;
        std::cout << "\n";
      }
    }
    CHECK(found.size() == 2);
  }
}

}  // namespace
}  // namespace yuba::compiler
