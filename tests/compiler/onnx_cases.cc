#include "tests/compiler/onnx_cases.h"

#include <algorithm>
#include <filesystem>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "compiler/import/constants.h"
#include "compiler/import/read.h"
#include "opsemantics/base/status.h"
#include "opsemantics/boxes.h"
#include "opsemantics/structure.h"
#include "tests/compiler/whole_model.h"

namespace yuba {
namespace {

constexpr int64_t kLargestFlops = 10'000'000;

// Values of the inputs by name; the files hold tensors only.
absl::StatusOr<std::map<std::string, TensorValue>> ReadInputs(const std::string& folder,
                                                              const onnx::GraphProto& graph) {
  std::map<std::string, TensorValue> inputs;
  for (int i = 0; i < graph.input_size(); ++i) {
    const std::string path = absl::StrCat(folder, "/test_data_set_0/input_", i, ".pb");
    if (!std::filesystem::exists(path)) continue;
    YUBA_ASSIGN_OR_RETURN(inputs[graph.input(i).name()], ReadTestTensor(path));
  }
  return inputs;
}

// What decides shapes must be known: inputs from number `first` on are bound.
ImportOptions Binding(const std::map<std::string, TensorValue>& inputs,
                      const onnx::GraphProto& graph, int first) {
  ImportOptions options;
  for (int i = first; i < graph.input_size(); ++i) {
    const auto input = inputs.find(graph.input(i).name());
    if (input == inputs.end()) continue;
    options.bind[input->first] = BoundValue{input->second.type.type, input->second.type.dims,
                                            BytesFromValue(input->second)};
  }
  return options;
}

absl::StatusOr<std::vector<TensorValue>> RunNamed(
    Model model, const std::map<std::string, TensorValue>& inputs) {
  std::vector<TensorValue> values;
  for (const TensorId id : model.graph.inputs) {
    const auto input = inputs.find(model.graph.tensors[id].name);
    if (input == inputs.end()) return UserError("no value for an input");
    values.push_back(input->second);
  }
  for (auto& [id, value] : model.values) {
    const auto input = inputs.find(model.graph.tensors[id].name);
    if (value.kind != InitialValue::kMissing || input == inputs.end()) continue;
    value.kind = InitialValue::kData;
    value.data = std::make_shared<const std::string>(BytesFromValue(input->second));
  }
  return RunWhole(model, values);
}

absl::StatusOr<double> ErrorOfCase(const std::string& folder) {
  YUBA_ASSIGN_OR_RETURN(const onnx::ModelProto proto, ReadModelFile(folder + "/model.onnx"));
  const absl::StatusOr<std::map<std::string, TensorValue>> inputs =
      ReadInputs(folder, proto.graph());
  if (!inputs.ok()) return UserError("not supported: ", inputs.status().message());
  absl::StatusOr<Model> model = UserError("known when planning");
  for (int first = proto.graph().input_size(); first >= 0 && !model.ok(); --first) {
    if (!absl::StrContains(model.status().message(), "known when planning")) break;
    model = ImportFile(folder + "/model.onnx", Binding(*inputs, proto.graph(), first));
  }
  if (!model.ok()) return model.status();
  int64_t flops = 0;
  for (const Node& node : model->graph.nodes)
    flops += Flops(*node.definition, WholeRanges(*node.definition));
  if (flops > kLargestFlops) return UserError("not supported: too much for the interpreter");
  YUBA_ASSIGN_OR_RETURN(const std::vector<TensorValue> outputs, RunNamed(*model, *inputs));
  double largest = 0;
  for (size_t i = 0; i < outputs.size(); ++i) {
    YUBA_ASSIGN_OR_RETURN(
        const TensorValue expected,
        ReadTestTensor(absl::StrCat(folder, "/test_data_set_0/output_", i, ".pb")));
    const std::vector<int64_t> shape = WholeDims(model->graph.tensors[model->graph.outputs[i]]);
    largest = std::max(largest, LargestError(outputs[i], shape, expected));
  }
  return largest;
}

}  // namespace

std::vector<std::string> OnnxCases(const std::string& group) {
  std::vector<std::string> cases;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(
           "/usr/share/libonnx-testdata/data/" + group, error)) {
    if (std::filesystem::exists(entry.path() / "model.onnx")) cases.push_back(entry.path());
  }
  std::sort(cases.begin(), cases.end());
  return cases;
}

CaseResult RunOnnxCase(const std::string& folder) {
  const absl::StatusOr<double> error = ErrorOfCase(folder);
  CaseResult result;
  if (error.ok()) {
    if (*error <= 1e-3) return result;  // ONNX's own tolerance
    result.outcome = CaseResult::kFailed;
    result.reason = absl::StrCat("an error of ", *error);
    return result;
  }
  result.reason = std::string(error.status().message());
  result.outcome = absl::StrContains(result.reason, "not supported") ||
                           absl::StrContains(result.reason, "no tensor") ||
                           absl::StrContains(result.reason, "is the oldest that is read")
                       ? CaseResult::kUnsupported
                       : CaseResult::kFailed;
  return result;
}

}  // namespace yuba
