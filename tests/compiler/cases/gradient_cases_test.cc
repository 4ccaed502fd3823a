// A step of training against PyTorch's: the cases in tests/models/gradients, whole and cut.
#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "opsemantics/base/status.h"
#include "tests/compiler/cases/onnx_cases.h"
#include "tests/compiler/cases/partitioned_case.h"
#include "tests/compiler/support/whole_model.h"
#include "tests/support/status_matchers.h"

namespace yuba::compiler {
namespace {

constexpr char kFolder[] = "tests/models/gradients";
constexpr double kTolerance = 1e-5;

absl::StatusOr<OnnxCase> LoadTraining(const std::string& folder) {
  onnx::ImportOptions options;
  options.train.emplace();
  options.train->optimizer = "sgd";
  options.train->loss = "mse";
  options.train->lr = 1;
  YUBA_ASSIGN_OR_RETURN(Model model, ImportFile(folder + "/model.onnx", std::move(options)));
  OnnxCase training{std::move(model), {}, {}};
  const Graph& graph = training.model.graph;
  for (size_t i = 0; i < graph.inputs.size(); ++i) {
    YUBA_ASSIGN_OR_RETURN(training.values[graph.tensors[graph.inputs[i]].name],
                          ReadTestTensor(absl::StrCat(folder, "/input_", i, ".pb")));
  }
  return training;
}

// The largest error of any weight after the step. Each weight of the folder must be an output.
absl::StatusOr<double> ErrorOfStep(const std::string& folder, const CaseRunner& run) {
  YUBA_ASSIGN_OR_RETURN(const OnnxCase training, LoadTraining(folder));
  YUBA_ASSIGN_OR_RETURN(const std::vector<TensorValue> outputs, run(training));
  const Graph& graph = training.model.graph;
  double largest = 0;
  int weights = 0;
  for (size_t o = 0; o < outputs.size(); ++o) {
    const Tensor& tensor = graph.tensors[graph.outputs[o]];
    if (!IsCarried(tensor)) continue;
    YUBA_ASSIGN_OR_RETURN(const TensorValue expected,
                          ReadTestTensor(absl::StrCat(folder, "/after_", tensor.name, ".pb")));
    largest = std::max(largest, LargestError(outputs[o], WholeDims(tensor), expected));
    ++weights;
  }
  if (weights == 0) return UserError("nothing is trained");
  return largest;
}

void CheckSteps(const CaseRunner& run) {
  const std::vector<std::string> folders = CaseFolders(kFolder);
  CHECK(!folders.empty());
  for (const std::string& folder : folders) {
    INFO(folder);
    const absl::StatusOr<double> error = ErrorOfStep(folder, run);
    CHECK_THAT(error, IsOk());
    if (error.ok()) CHECK(*error <= kTolerance);
  }
}

TEST_CASE("a step of training is PyTorch's") { CheckSteps(RunCaseWhole); }

TEST_CASE("a step of training on 3 devices is PyTorch's") {
  CheckSteps(
      [](const OnnxCase& training) { return RunCasePartitioned(training, Partitioning{3}); });
}

}  // namespace
}  // namespace yuba::compiler
