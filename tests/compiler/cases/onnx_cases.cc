#include "tests/compiler/cases/onnx_cases.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <filesystem>
#include <limits>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "compiler/import/file/read.h"
#include "compiler/simplify/constants.h"
#include "opsemantics/base/random_state.h"
#include "opsemantics/base/status.h"
#include "opsemantics/regions/boxes.h"
#include "opsemantics/sharding/work.h"
#include "tests/compiler/support/whole_model.h"
#include "tests/support/status_matchers.h"

namespace yuba::compiler {
namespace {

const std::string kData = "/usr/share/libonnx-testdata/data/";
constexpr double kMostOperations = 1e7;
constexpr double kInfinity = std::numeric_limits<double>::infinity();

// A tensor of a file that is of this type in the graph. Of bf16 the files have the bits as u16, as
// NumPy has no such type.
absl::StatusOr<TensorValue> ReadCaseTensor(const std::string& path,
                                           const ::onnx::ValueInfoProto& info) {
  YUBA_ASSIGN_OR_RETURN(TensorValue value, ReadTestTensor(path));
  const bool is_bf16 = info.type().tensor_type().elem_type() == OnnxNumberOf(ElementType::kBF16);
  if (!is_bf16 || value.type.type != ElementType::kU16) return value;
  return ValueFromBytes(ElementType::kBF16, value.type.dims, BytesFromValue(value));
}

// Values of the inputs by name; the files hold tensors only.
absl::StatusOr<std::map<std::string, TensorValue>> ReadInputs(const std::string& folder,
                                                              const ::onnx::GraphProto& graph) {
  std::map<std::string, TensorValue> inputs;
  for (int i = 0; i < graph.input_size(); ++i) {
    const std::string path = absl::StrCat(folder, "/test_data_set_0/input_", i, ".pb");
    if (!std::filesystem::exists(path)) continue;
    YUBA_ASSIGN_OR_RETURN(inputs[graph.input(i).name()], ReadCaseTensor(path, graph.input(i)));
  }
  return inputs;
}

// Values that decide shapes must be known when planning: binds the inputs from number `first` on.
onnx::ImportOptions Binding(const std::map<std::string, TensorValue>& inputs,
                            const ::onnx::GraphProto& graph, int first) {
  onnx::ImportOptions options;
  for (int i = first; i < graph.input_size(); ++i) {
    const auto input = inputs.find(graph.input(i).name());
    if (input == inputs.end()) continue;
    options.bind[input->first] =
        TensorData{input->second.type.type, input->second.type.dims, BytesFromValue(input->second)};
  }
  return options;
}

absl::StatusOr<OnnxCase> LoadCase(const std::string& folder, const OperatorLibrary* library) {
  YUBA_ASSIGN_OR_RETURN(const ::onnx::ModelProto proto,
                        onnx::ReadModelFile(folder + "/model.onnx"));
  auto values = ReadInputs(folder, proto.graph());
  if (!values.ok()) return UserError("not supported: ", values.status().message());
  absl::StatusOr<Model> model = UserError("known when planning");
  for (int first = proto.graph().input_size(); first >= 0 && !model.ok(); --first) {
    if (!absl::StrContains(model.status().message(), "known when planning")) break;
    onnx::ImportOptions options = Binding(*values, proto.graph(), first);
    options.library = library;
    model = ImportFile(folder + "/model.onnx", std::move(options));
  }
  if (!model.ok()) return model.status();
  double operations = 0;
  for (const Node& node : model->graph.nodes)
    operations += WorkOf(*node.definition, WholeRanges(*node.definition)).operations;
  if (operations > kMostOperations) return UserError("not supported: too much for the interpreter");
  OnnxCase result{*std::move(model), *std::move(values), {}};
  for (size_t i = 0; i < result.model.graph.outputs.size(); ++i) {
    YUBA_ASSIGN_OR_RETURN(TensorValue expected,
                          ReadCaseTensor(absl::StrCat(folder, "/test_data_set_0/output_", i, ".pb"),
                                         proto.graph().output(static_cast<int>(i))));
    result.expected.push_back(std::move(expected));
  }
  return result;
}

// Why a case may be skipped, in the same words for all cases with one reason; empty where it may
// not be skipped.
std::string SkipReason(absl::string_view problem) {
  if (absl::StrContains(problem, "operator that is not supported") ||
      absl::StrContains(problem, "operators that are not supported")) {
    return "an operator that has no row";
  }
  const std::pair<const char*, const char*> reasons[] = {
      {"element type", "an element type that Yuba lacks"},
      {"a tensor without a name", "values that are no tensors"},
      {"no tensor", "values that are no tensors"},
      {"is a sequence of tensors", "values that are no tensors"},
      {"too much for the interpreter", "too much for the interpreter"},
      {"has symbolic dimensions", "sizes that its inputs do not give"},
      {"numbers of another generator", "random numbers of another generator"},
      {"not supported", "a form of an operator that is an error"}};
  for (const auto& [text, reason] : reasons) {
    if (absl::StrContains(problem, text)) return reason;
  }
  return "";
}

bool DrawsNumbers(const Graph& graph) {
  return std::any_of(graph.tensors.begin(), graph.tensors.end(), [](const Tensor& tensor) {
    return tensor.kind == TensorKind::kState && tensor.name == kSeedName;
  });
}

absl::StatusOr<double> ErrorOf(const OnnxCase& onnx_case, const CaseRunner& run) {
  YUBA_ASSIGN_OR_RETURN(const std::vector<TensorValue> outputs, run(onnx_case));
  const Graph& graph = onnx_case.model.graph;
  double largest = 0;
  for (size_t i = 0; i < outputs.size(); ++i) {
    largest = std::max(largest, LargestError(outputs[i], WholeDims(graph.tensors[graph.outputs[i]]),
                                             onnx_case.expected[i]));
  }
  return largest;
}

// The case with the right values in the place of those of its file, which must be others: where
// they are no longer, the row is to go.
absl::StatusOr<double> ErrorOfCorrected(const std::string& folder, const CaseRunner& run,
                                        const std::vector<double>& right, double tolerance) {
  YUBA_ASSIGN_OR_RETURN(OnnxCase onnx_case, LoadCase(folder, nullptr));
  TensorValue& expected = onnx_case.expected.at(0);
  const TensorValue stated = expected;
  REQUIRE(expected.elements.size() == right.size());
  for (size_t i = 0; i < right.size(); ++i) expected.elements[i].number = right[i];
  CHECK(LargestError(stated, stated.type.dims, expected) > tolerance);
  return ErrorOf(onnx_case, run);
}

}  // namespace

const std::map<std::string, std::vector<double>>& CorrectedCases() {
  // Lengths of results are whole numbers of elements, and corners stand on corners of these. The
  // files have places of a length that is a fraction.
  // Casts to bf16 round to the nearest; the files have the upper bits.
  const std::vector<double> bf16 = {0.478515625,  0.48046875, 0.5,       0.8203125,
                                    0.470703125,  0.81640625, 0.2109375, 0.72265625,
                                    std::nan(""), kInfinity,  kInfinity, -kInfinity};
  static const auto* const cases = new std::map<std::string, std::vector<double>>{
      {"test_cast_FLOAT_to_BFLOAT16", bf16},
      {"test_castlike_FLOAT_to_BFLOAT16", bf16},
      {"test_castlike_FLOAT_to_BFLOAT16_expanded", bf16},
      {"test_resize_downsample_scales_linear_align_corners", {1, 4}},
      {"test_resize_downsample_scales_cubic_align_corners", {1, 2.5, 4, 7, 8.5, 10, 13, 14.5, 16}}};
  return *cases;
}

std::vector<std::string> CaseFolders(const std::string& folder) {
  std::vector<std::string> folders;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(folder, error)) {
    if (std::filesystem::exists(entry.path() / "model.onnx")) folders.push_back(entry.path());
  }
  std::sort(folders.begin(), folders.end());
  return folders;
}

absl::StatusOr<double> ErrorOfCase(const std::string& folder, const CaseRunner& run,
                                   const OperatorLibrary* library) {
  YUBA_ASSIGN_OR_RETURN(const OnnxCase onnx_case, LoadCase(folder, library));
  return ErrorOf(onnx_case, run);
}

absl::StatusOr<std::vector<TensorValue>> RunCaseWhole(const OnnxCase& onnx_case) {
  Model model = onnx_case.model;
  std::vector<TensorValue> inputs;
  for (const TensorId id : model.graph.inputs) {
    const auto input = onnx_case.values.find(model.graph.tensors[id].name);
    if (input == onnx_case.values.end()) return UserError("no value for an input");
    inputs.push_back(input->second);
  }
  for (auto& [id, value] : model.values) {
    const auto input = onnx_case.values.find(model.graph.tensors[id].name);
    if (value.kind != InitialValue::kMissing || input == onnx_case.values.end()) continue;
    value.kind = InitialValue::kData;
    value.data = std::make_shared<const std::string>(BytesFromValue(input->second));
  }
  return RunWhole(model, inputs);
}

bool HasOnnxCases() { return std::filesystem::exists(kData); }

std::string ToString(const CaseCount& count) {
  return absl::StrCat(count.passed, " passed", count.skipped.empty() ? "" : "; skipped: ",
                      absl::StrJoin(count.skipped, ", ", [](std::string* out, const auto& reason) {
                        absl::StrAppend(out, reason.second, " with ", reason.first);
                      }));
}

CaseCount RunCases(const std::string& folder, const CaseRunner& run, double tolerance) {
  CaseCount count;
  for (const std::string& one : CaseFolders(folder)) {
    const auto corrected = CorrectedCases().find(std::filesystem::path(one).filename().string());
    const bool is_corrected = corrected != CorrectedCases().end();
    const absl::StatusOr<double> error =
        is_corrected ? ErrorOfCorrected(one, run, corrected->second, tolerance)
                     : ErrorOfCase(one, run);
    const std::string reason = SkipReason(error.status().message());
    if (!reason.empty()) {
      ++count.skipped[reason];
      continue;
    }
    INFO(one);
    CHECK_THAT(error, IsOk());
    if (error.ok()) CHECK(*error <= tolerance);
    if (is_corrected) ++count.skipped["values that differ from the operator's text"];
    count.passed += error.ok() && *error <= tolerance && !is_corrected;
  }
  return count;
}

CaseCount RunOnnxCases(const std::string& group, const CaseRunner& run) {
  constexpr double kTolerance = 1e-3;  // ONNX's own
  return RunCases(
      kData + group,
      [&run](const OnnxCase& one) -> absl::StatusOr<std::vector<TensorValue>> {
        if (DrawsNumbers(one.model.graph)) return UserError("it has numbers of another generator");
        return run(one);
      },
      kTolerance);
}

}  // namespace yuba::compiler
