#include "compiler/import/translate/sources.h"

#include <algorithm>
#include <set>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "compiler/import/file/read.h"
#include "compiler/import/translate/node.h"
#include "compiler/import/translate/stored_sources.h"
#include "compiler/simplify/constants.h"
#include "opsemantics/base/status.h"

namespace yuba::onnx {
namespace {

bool HasSymbol(const ::onnx::ValueInfoProto& input) {
  for (const auto& dim : input.type().tensor_type().shape().dim()) {
    if (!dim.has_dim_value()) return true;
  }
  return false;
}

class SourceReader {
 public:
  SourceReader(const ::onnx::GraphProto& proto, const FileGraph& order, const std::string& folder,
               const ImportOptions& options, const std::map<std::string, int64_t>& dims,
               OnnxGraph& graph)
      : proto_(proto),
        order_(order),
        folder_(folder),
        options_(options),
        graph_(graph),
        dims_(dims) {}

  absl::Status Add() {
    YUBA_RETURN_IF_ERROR(CheckOptions());
    for (size_t i = 0; i < order_.inputs.size(); ++i) {
      const ::onnx::ValueInfoProto& input = *order_.inputs[i];
      if (order_.unread.count(input.name()) > 0) continue;
      YUBA_ASSIGN_OR_RETURN(OnnxValue value, TypeOfInput(input));
      value.kind = KindOfInput(input, value.type, i == 0);
      if (value.kind == TensorKind::kInput && IsState(options_, value.name))
        value.kind = TensorKind::kState;
      YUBA_RETURN_IF_ERROR(SetShape(input, value));
      const auto bound = options_.bind.find(input.name());
      if (bound != options_.bind.end()) {
        YUBA_RETURN_IF_ERROR(Bind(bound->second, value));
      } else if (const Beginning* beginning = BeginningOf(input.name())) {
        YUBA_RETURN_IF_ERROR(Begin(*beginning, value));
      }
      YUBA_RETURN_IF_ERROR(AddInput(std::move(value)));
    }
    if (!missing_.empty()) {
      return UserError("the model has symbolic dimensions: give ",
                       absl::StrJoin(missing_, " ", [](std::string* out, const std::string& name) {
                         absl::StrAppend(out, "--dim ", name, "=N");
                       }));
    }
    return AddStored({proto_, order_, folder_, options_}, graph_);
  }

 private:
  absl::Status CheckOptions() {
    std::set<std::string> symbols;
    for (const ::onnx::ValueInfoProto& input : proto_.input()) {
      for (const auto& dim : input.type().tensor_type().shape().dim()) {
        if (!dim.dim_param().empty()) symbols.insert(dim.dim_param());
      }
    }
    if (options_.batch.has_value() && *options_.batch < 1)
      return UserError("--batch ", *options_.batch, ": a batch has at least one sample");
    for (const auto& [name, size] : dims_) {
      if (!name.empty() && symbols.count(name) == 0) {
        return UserError("--dim ", name, "=", size, ": no input has a dimension of that name",
                         symbols.empty()
                             ? " (none is symbolic)"
                             : absl::StrCat("; there is ", absl::StrJoin(symbols, ", ")));
      }
      if (size < 0) return UserError("--dim ", name, "=", size, ": a dimension is not negative");
    }
    for (const auto& [name, value] : options_.bind) {
      const auto has_name = [&name = name](const ::onnx::ValueInfoProto* input) {
        return input->name() == name;
      };
      const auto stored = order_.initializers.find(name);
      const bool number = stored != order_.initializers.end() &&
                          std::all_of(stored->second->dims().begin(), stored->second->dims().end(),
                                      [](int64_t dim) { return dim == 1; });
      if (!number && std::none_of(order_.inputs.begin(), order_.inputs.end(), has_name))
        return UserError("--bind ", name, ": the model has no input of that name");
    }
    return absl::OkStatus();
  }

  // Makes the input a constant of the value that it is bound to.
  static absl::Status Bind(const TensorData& bound, OnnxValue& value) {
    YUBA_RETURN_IF_ERROR(CheckBound(bound, "the input", value, false));
    const int64_t elements = ElementCount(TensorType{bound.type, bound.dims});
    value.kind = TensorKind::kConstant;
    value.initial = compiler::InitialValue{compiler::InitialValue::kData,
                                           std::make_shared<const std::string>(bound.data)};
    if (elements <= kKnownElements) {
      value.known = std::make_shared<const TensorValue>(
          compiler::ValueFromBytes(bound.type, bound.dims, bound.data));
    }
    return absl::OkStatus();
  }

  // How the parameter begins, by the file's training_info, where no stored value comes first; null
  // where that does not say.
  const Beginning* BeginningOf(const std::string& name) const {
    const auto found = order_.initialization.find(name);
    return found == order_.initialization.end() ? nullptr : &found->second;
  }

  // Gives the parameter the value with which its training begins.
  absl::Status Begin(const Beginning& beginning, OnnxValue& value) {
    if (!beginning.unread.empty()) {
      graph_.notes.push_back(absl::StrCat(
          value.name, " has no value: node ", beginning.unread, " of training_info makes it, and ",
          "only RandomNormal, RandomUniform, ConstantOfShape and stored values are read there"));
      return absl::OkStatus();
    }
    if (beginning.type != value.type || beginning.dims != value.dims) {
      return UserError("training_info begins '", value.name, "' as ", Name(beginning.type), "[",
                       absl::StrJoin(beginning.dims, ", "), "], and it is ", Name(value.type), "[",
                       absl::StrJoin(value.dims, ", "), "]");
    }
    value.initial.kind =
        beginning.draw.has_value() ? compiler::InitialValue::kDrawn : compiler::InitialValue::kData;
    if (beginning.draw.has_value()) value.initial.draw = *beginning.draw;
    value.initial.data = beginning.data;
    return absl::OkStatus();
  }

  absl::StatusOr<OnnxValue> TypeOfInput(const ::onnx::ValueInfoProto& input) {
    if (!input.type().has_tensor_type()) {
      return UserError("input '", input.name(),
                       "' is no tensor: sequences, maps and optional values", " are not supported");
    }
    OnnxValue value;
    value.name = input.name();
    absl::StatusOr<ElementType> type = ElementTypeFromOnnx(input.type().tensor_type().elem_type());
    if (!type.ok()) return Annotate(type.status(), "input '" + input.name() + "'");
    value.type = *type;
    if (!input.type().tensor_type().has_shape())
      return UserError("input '", input.name(), "' has no shape in the file, not even a rank");
    return value;
  }

  TensorKind KindOfInput(const ::onnx::ValueInfoProto& input, ElementType type, bool first) const {
    if (order_.cut.count(input.name()) > 0) return TensorKind::kInput;
    if (!order_.initialization.empty())
      return BeginningOf(input.name()) != nullptr ? TensorKind::kParameter : TensorKind::kInput;
    const bool parameter = !first && IsFloat(type) && !HasSymbol(input) && !StoresWeights();
    return parameter ? TensorKind::kParameter : TensorKind::kInput;
  }

  // Whether the file stores weights, so that its inputs are none: floats, several in a tensor. A
  // single number, as a factor or an epsilon, says nothing of where weights are.
  bool StoresWeights() const {
    for (const ::onnx::TensorProto& tensor : proto_.initializer()) {
      const absl::StatusOr<ElementType> type = ElementTypeFromOnnx(tensor.data_type());
      const bool single =
          std::all_of(tensor.dims().begin(), tensor.dims().end(), [](int64_t d) { return d == 1; });
      if (type.ok() && IsFloat(*type) && !single) return true;
    }
    return false;
  }

  absl::Status SetShape(const ::onnx::ValueInfoProto& input, OnnxValue& value) {
    const auto& shape = input.type().tensor_type().shape();
    const auto other = graph_.at_batch.find(input.name());
    for (int d = 0; d < shape.dim_size(); ++d) {
      const auto& dim = shape.dim(d);
      int64_t size = dim.has_dim_value() ? dim.dim_value() : -1;
      if (!dim.dim_param().empty()) {
        const auto found = dims_.find(dim.dim_param());
        if (found == dims_.end()) missing_.insert(dim.dim_param());
        size = found == dims_.end() ? 1 : found->second;
      } else if (dim.has_dim_value() && size < 0) {
        return UserError("dimension ", d, " of input '", input.name(), "' is ", size,
                         ", which no tensor has");
      } else if (size < 0 && d == 0 && dims_.count("") > 0) {
        size = dims_.at("");
      } else if (size < 0) {
        const char* const next = options_.batch.has_value() ? ", and is not the batch"
                                 : d == 0                   ? ": give --batch N"
                                                            : "";
        return UserError("dimension ", d, " of input '", input.name(),
                         "' has neither a size nor a name in the file", next);
      }
      value.dims.push_back(size);
      value.dim_names.push_back(dim.dim_param());
    }
    if (other != graph_.at_batch.end()) value.dims = other->second.dims;
    const absl::StatusOr<int64_t> elements = ElementsOf(value.dims);
    if (!elements.ok()) return Annotate(elements.status(), "input '" + input.name() + "'");
    return absl::OkStatus();
  }

  // An input of earlier entries, where one has this type and shape; else a new value.
  absl::Status AddInput(OnnxValue value) {
    for (const int v : graph_.earlier[value.name]) {
      OnnxValue& earlier = graph_.values[v];
      if (earlier.type == value.type && earlier.dims == value.dims) {
        earlier.entry = OnnxValue::kCommon;
        graph_.by_name[value.name] = v;
        return absl::OkStatus();
      }
      if (value.kind == TensorKind::kState) {
        return UserError("the state '", value.name, "' is [", absl::StrJoin(value.dims, ", "),
                         "] in entry ", graph_.entries[graph_.entry].name, " and [",
                         absl::StrJoin(earlier.dims, ", "),
                         "] in an earlier one; entries share their states: give the same sizes of ",
                         "its dimensions to all");
      }
    }
    if (value.kind == TensorKind::kInput) {
      value.entry = graph_.entry;
      graph_.inputs.push_back(static_cast<int>(graph_.values.size()));
    }
    AddValue(std::move(value));
    return absl::OkStatus();
  }

  void AddValue(OnnxValue value) {
    graph_.by_name[value.name] = static_cast<int>(graph_.values.size());
    graph_.values.push_back(std::move(value));
  }

  const ::onnx::GraphProto& proto_;
  const FileGraph& order_;
  const std::string& folder_;
  const ImportOptions& options_;
  OnnxGraph& graph_;
  const std::map<std::string, int64_t>& dims_;
  std::set<std::string> missing_;
};

}  // namespace

absl::Status AddSources(const ::onnx::GraphProto& proto, const FileGraph& order,
                        const std::string& folder, const ImportOptions& options,
                        const std::map<std::string, int64_t>& dims, OnnxGraph& graph) {
  return SourceReader(proto, order, folder, options, dims, graph).Add();
}

}  // namespace yuba::onnx
