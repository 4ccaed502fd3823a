#include "tests/compiler/support/whole_model.h"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <limits>

#include "compiler/import/file/read.h"
#include "compiler/phases.h"
#include "compiler/simplify/constants.h"
#include "opsemantics/base/check.h"
#include "opsemantics/base/status.h"

namespace yuba::compiler {

const OperatorLibrary& BuiltInLibrary() {
  static const auto* const kLibrary = [] {
    absl::StatusOr<OperatorLibrary> library = OperatorLibrary::BuiltIn();
    YUBA_CHECK(library.ok()) << library.status();
    return new OperatorLibrary(*std::move(library));
  }();
  return *kLibrary;
}

absl::StatusOr<Model> ImportFile(const std::string& path, onnx::ImportOptions options) {
  if (options.library == nullptr) options.library = &BuiltInLibrary();
  Compilation compilation;
  compilation.request.model_file = path;
  compilation.request.import = std::move(options);
  PhaseOptions phases;
  phases.to = "carry";
  YUBA_RETURN_IF_ERROR(RunPhases(phases, compilation));
  return std::move(compilation.model);
}

absl::StatusOr<TensorValue> ReadTestTensor(const std::string& path) {
  YUBA_ASSIGN_OR_RETURN(const ::onnx::TensorProto proto, onnx::ReadTensorProtoFile(path));
  YUBA_ASSIGN_OR_RETURN(const TensorData bytes, onnx::ReadTensor(proto, onnx::FolderOf(path)));
  return ValueFromBytes(bytes.type, bytes.dims, bytes.data);
}

namespace {

absl::StatusOr<TensorValue> ValueOf(const Model& model, TensorId id) {
  const Tensor& tensor = model.graph.tensors[id];
  const InitialValue& initial = model.values.at(id);
  if (initial.kind == InitialValue::kMissing)
    return UserError("parameter '", tensor.name, "' has no value");
  std::string bytes;
  if (initial.kind == InitialValue::kDrawn) {
    TensorValue drawn = {tensor.type, {}};
    for (int64_t i = 0; i < ElementCount(tensor.type); ++i) {
      Scalar element;
      element.number = static_cast<float>(DrawnElement(initial.draw, i));
      drawn.elements.push_back(element);
    }
    return drawn;
  }
  if (initial.kind == InitialValue::kFile) {
    YUBA_ASSIGN_OR_RETURN(bytes, ReadRange(initial.range));
  } else {
    bytes = *initial.data;
  }
  if (initial.kind == InitialValue::kFill) {
    for (int64_t i = ElementCount(tensor.type); i > 1; --i) bytes += *initial.data;
  }
  return ValueFromBytes(tensor.type.type, tensor.type.dims, bytes);
}

}  // namespace

absl::StatusOr<std::vector<TensorValue>> RunWhole(const Model& model,
                                                  const std::vector<TensorValue>& inputs) {
  const Graph& graph = model.graph;
  std::vector<TensorValue> values(graph.tensors.size());
  if (inputs.size() != graph.inputs.size())
    return UserError("the model has ", graph.inputs.size(), " inputs");
  for (size_t i = 0; i < inputs.size(); ++i) {
    const Tensor& tensor = graph.tensors[graph.inputs[i]];
    if (inputs[i].type.dims != WholeDims(tensor) || inputs[i].type.type != tensor.type.type)
      return UserError("input '", tensor.name, "' has another shape or type");
    values[graph.inputs[i]] = inputs[i];
    values[graph.inputs[i]].type = tensor.type;
  }
  for (size_t t = 0; t < graph.tensors.size(); ++t) {
    if (!HasInitialValue(graph.tensors[t].kind)) continue;
    YUBA_ASSIGN_OR_RETURN(values[t], ValueOf(model, static_cast<TensorId>(t)));
  }
  InterpretGraph(graph, Arithmetic::kFloat, values);
  std::vector<TensorValue> outputs;
  for (const TensorId output : graph.outputs) outputs.push_back(values[output]);
  return outputs;
}

double LargestError(const TensorValue& actual, const std::vector<int64_t>& shape,
                    const TensorValue& expected) {
  const double different = std::numeric_limits<double>::infinity();
  if (shape != expected.type.dims || actual.type.type != expected.type.type) return different;
  double largest = 0;
  for (size_t i = 0; i < expected.elements.size(); ++i) {
    if (!IsFloat(expected.type.type)) {
      if (actual.elements[i].integer != expected.elements[i].integer) return different;
      continue;
    }
    const double a = actual.elements[i].number, e = expected.elements[i].number;
    if (a == e || (std::isnan(a) && std::isnan(e))) continue;
    const double error = std::fabs(a - e) / std::max(1.0, std::fabs(e));
    largest = error <= different ? std::max(largest, error) : different;
  }
  return largest;
}

absl::StatusOr<double> ErrorOnTestData(const std::string& folder, int set,
                                       onnx::ImportOptions options) {
  YUBA_ASSIGN_OR_RETURN(const Model model, ImportFile(folder + "/model.onnx", std::move(options)));
  const std::string data = folder + "/test_data_set_" + std::to_string(set);
  std::vector<TensorValue> inputs;
  for (size_t i = 0; i < model.graph.inputs.size(); ++i) {
    YUBA_ASSIGN_OR_RETURN(TensorValue input,
                          ReadTestTensor(data + "/input_" + std::to_string(i) + ".pb"));
    inputs.push_back(std::move(input));
  }
  YUBA_ASSIGN_OR_RETURN(const std::vector<TensorValue> outputs, RunWhole(model, inputs));
  double largest = 0;
  for (size_t i = 0; i < outputs.size(); ++i) {
    YUBA_ASSIGN_OR_RETURN(const TensorValue expected,
                          ReadTestTensor(data + "/output_" + std::to_string(i) + ".pb"));
    largest = std::max(
        largest,
        LargestError(outputs[i], WholeDims(model.graph.tensors[model.graph.outputs[i]]), expected));
  }
  return largest;
}

}  // namespace yuba::compiler
