#include <cstdint>
#include <cstring>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "compiler/import/file/read.h"
#include "compiler/import/parameters/folded.h"
#include "compiler/import/parameters/restoring.h"
#include "opsemantics/base/status.h"
#include "opsemantics/values/onnx_tensor.h"

namespace yuba::onnx {
namespace {

constexpr char kExpand[] = "expand";  // the call whose result is repeated

// Whether all slices of dimension d, as extents and bytes of a row-major tensor, are equal.
bool IsRepeated(const TensorData& tensor, size_t d) {
  int64_t inner = ByteSize(tensor.type);
  for (size_t e = d + 1; e < tensor.dims.size(); ++e) inner *= tensor.dims[e];
  const int64_t bytes = static_cast<int64_t>(tensor.data.size()), outer = inner * tensor.dims[d];
  for (int64_t at = 0; at < bytes; at += outer) {
    const char* first = tensor.data.data() + at;
    for (int64_t i = 1; i < tensor.dims[d]; ++i) {
      if (std::memcmp(first, first + i * inner, static_cast<size_t>(inner)) != 0) return false;
    }
  }
  return true;
}

// Whether the tensor is several copies of one slice of its first dimension, and its values leave no
// doubt of that: a parameter of equal values or rows may be repeated along any dimension.
bool IsRepeatedFirst(const TensorData& tensor) {
  if (tensor.dims.size() < 2 || tensor.data.empty()) return false;
  for (size_t d = 0; d < tensor.dims.size(); ++d) {
    if (IsRepeated(tensor, d) != (d == 0 || tensor.dims[d] == 1)) return false;
  }
  return tensor.dims[0] > 1;
}

class Repeated {
 public:
  Repeated(const std::string& folder, ::onnx::GraphProto& graph, ExportRecord& record)
      : folder_(folder), graph_(graph), record_(record), taken_(NamesOfValues(graph)) {
    for (const auto& [called, name] : record.parameters) called_[name] = called;
  }

  absl::StatusOr<std::vector<std::string>> Restore() {
    for (int t = 0; t < graph_.initializer_size(); ++t) {
      const std::string name = graph_.initializer(t).name();
      const std::string parameter = ParameterIn(name);
      if (parameter.empty()) continue;
      YUBA_ASSIGN_OR_RETURN(const TensorData values, ReadTensor(graph_.initializer(t), folder_));
      if (IsFloat(values.type) && IsRepeatedFirst(values)) Replace(t, parameter, values);
    }
    PutFirst(static_cast<int>(names_.size()));
    return std::move(names_);
  }

 private:
  // The one parameter that the value of that name is folded from, where the call that is gone
  // repeats elements; else "".
  std::string ParameterIn(const std::string& name) const {
    const auto value = record_.values.find(name);
    if (value == record_.values.end() || CallNamed(name) != kExpand) return "";
    std::string parameter;
    for (const std::string& from : value->second.folded_from) {
      if (called_.count(from) == 0 && CallNamed(from) == "val") continue;  // a size
      if (called_.count(from) == 0 || taken_.count(from) > 0 || !parameter.empty()) return "";
      parameter = from;
    }
    return taken_.count(ShapeOf(name)) == 0 ? parameter : "";
  }

  static std::string ShapeOf(const std::string& name) { return absl::StrCat(name, "/shape"); }

  // Makes the initializer one slice, the parameter, and the value an Expand of it.
  void Replace(int position, const std::string& parameter, const TensorData& values) {
    ::onnx::TensorProto& tensor = *graph_.mutable_initializer(position);
    ::onnx::NodeProto& node = *graph_.add_node();
    node.set_op_type("Expand");
    node.add_input(parameter);
    node.add_input(ShapeOf(tensor.name()));
    node.add_output(tensor.name());
    record_.values.erase(tensor.name());
    ::onnx::TensorProto shape;
    shape.set_name(node.input(1));
    shape.set_data_type(::onnx::TensorProto::INT64);
    shape.add_dims(static_cast<int64_t>(values.dims.size()));
    for (const int64_t extent : values.dims) shape.add_int64_data(extent);
    const int32_t type = tensor.data_type();
    tensor.Clear();
    tensor.set_name(parameter);
    tensor.set_data_type(type);
    for (size_t d = 0; d < values.dims.size(); ++d) tensor.add_dims(d == 0 ? 1 : values.dims[d]);
    tensor.set_raw_data(values.data.substr(0, values.data.size() / values.dims[0]));
    *graph_.add_initializer() = std::move(shape);
    ValueRecord& value = record_.values[parameter];
    value.kind = ValueRecord::kParameter;
    value.called = called_.at(parameter);
    taken_.insert(parameter);
    names_.push_back(parameter);
  }

  // Moves the last nodes before all others: what reads a value stands behind it.
  void PutFirst(int count) {
    for (int n = 0; n < count; ++n) {
      for (int i = graph_.node_size() - 1; i > 0; --i)
        graph_.mutable_node()->SwapElements(i, i - 1);
    }
  }

  const std::string& folder_;
  ::onnx::GraphProto& graph_;
  ExportRecord& record_;
  std::set<std::string> taken_;
  std::map<std::string, std::string> called_;  // in the exported program, by PyTorch's name
  std::vector<std::string> names_;
};

}  // namespace

absl::StatusOr<std::vector<std::string>> RestoreRepeated(const std::string& folder,
                                                         ::onnx::GraphProto& graph,
                                                         ExportRecord& record) {
  return Repeated(folder, graph, record).Restore();
}

}  // namespace yuba::onnx
