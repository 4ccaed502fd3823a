#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/types/optional.h"
#include "compiler/import/file/read.h"
#include "compiler/import/parameters/aten_calls.h"
#include "compiler/import/parameters/restoring.h"
#include "opsemantics/values/onnx_tensor.h"

namespace yuba::onnx {
namespace {

constexpr int kWeight = 1, kBias = 2;  // operands of the nodes below

int64_t IntegerOf(const ::onnx::NodeProto& node, absl::string_view name, int64_t otherwise) {
  for (const ::onnx::AttributeProto& attribute : node.attribute()) {
    if (attribute.name() == name) return attribute.i();
  }
  return otherwise;
}

// How many elements a bias has behind that weight of at least two dimensions.
int64_t SizeOfBias(const ::onnx::NodeProto& node, const ::onnx::TensorProto& weight) {
  if (node.op_type() == "Gemm") return weight.dims(IntegerOf(node, "transB", 0) != 0 ? 0 : 1);
  if (node.op_type() == "Conv") return weight.dims(0);
  return weight.dims(1) * IntegerOf(node, "group", 1);
}

class BiasRestorer {
 public:
  BiasRestorer(const std::string& folder, ::onnx::GraphProto& graph, ExportRecord& record)
      : folder_(folder), graph_(graph), record_(record), taken_(NamesOfValues(graph)) {
    for (int t = 0; t < graph.initializer_size(); ++t) stored_[graph.initializer(t).name()] = t;
  }

  std::vector<std::string> Restore() {
    for (::onnx::NodeProto& node : *graph_.mutable_node()) {
      if (node.input_size() != kBias || !node.domain().empty()) continue;
      const absl::optional<CallRecord> call = ReadNodeRecord(node).call;
      if (!call.has_value()) continue;
      for (const AtenOperand* bias : Biases(*call, node.op_type())) {
        if (bias->argument < static_cast<int>(call->arguments.size()))
          Restore(call->arguments[bias->argument], node);
      }
    }
    return std::move(names_);
  }

 private:
  void Restore(const std::vector<std::string>& argument, ::onnx::NodeProto& node) {
    const auto weight = stored_.find(node.input(kWeight));
    const auto parameter =
        argument.size() == 1 ? record_.parameters.find(argument[0]) : record_.parameters.end();
    if (weight == stored_.end() || parameter == record_.parameters.end()) return;
    const std::string& name = parameter->second;
    const bool made = std::count(names_.begin(), names_.end(), name) > 0;
    if (!made && (taken_.count(name) > 0 || !Add(argument[0], name, weight->second, node))) return;
    node.add_input(name);
  }

  bool Add(const std::string& called, const std::string& name, int weight,
           const ::onnx::NodeProto& node) {
    const ::onnx::TensorProto& like = graph_.initializer(weight);
    const absl::StatusOr<ElementType> type = ElementTypeFromOnnx(like.data_type());
    if (!type.ok() || !IsFloat(*type) || like.dims_size() < 2) return false;
    const int64_t size = SizeOfBias(node, like), bytes = size * ByteSize(*type);
    if (size < 0 || bytes > BytesOf(like)) return false;
    ::onnx::TensorProto zeros;
    zeros.set_name(name);
    zeros.set_data_type(like.data_type());
    zeros.add_dims(size);
    zeros.set_raw_data(std::string(static_cast<size_t>(bytes), '\0'));
    *graph_.add_initializer() = std::move(zeros);
    ValueRecord& value = record_.values[name];
    value.kind = ValueRecord::kParameter;
    value.called = called;
    names_.push_back(name);
    return true;
  }

  // How many bytes of values there are, whatever the extents in the file say.
  int64_t BytesOf(const ::onnx::TensorProto& tensor) const {
    if (!IsExternal(tensor)) return static_cast<int64_t>(tensor.ByteSizeLong());
    const absl::StatusOr<FileRange> bytes = LocateBytes(tensor, folder_);
    return bytes.ok() ? bytes->length : 0;
  }

  const std::string& folder_;
  ::onnx::GraphProto& graph_;
  ExportRecord& record_;
  const std::set<std::string> taken_;
  std::map<std::string, int> stored_;  // initializers by name: their positions
  std::vector<std::string> names_;
};

}  // namespace

// The rule of the exporter's optimizer that takes a bias away asks for zeros alone.
std::vector<std::string> RestoreZeroBiases(const std::string& folder, ::onnx::GraphProto& graph,
                                           ExportRecord& record) {
  return BiasRestorer(folder, graph, record).Restore();
}

}  // namespace yuba::onnx
