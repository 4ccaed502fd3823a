#include "compiler/import/file/replace_values.h"

#include <algorithm>
#include <limits>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "compiler/import/file/read.h"
#include "compiler/import/file/twins.h"
#include "onnx/onnx.pb.h"
#include "opsemantics/base/file_range.h"
#include "opsemantics/base/files.h"
#include "opsemantics/base/status.h"

namespace yuba::onnx {
namespace {

std::string TypeText(ElementType type, const std::vector<int64_t>& dims) {
  return absl::StrCat(Name(type), "[", absl::StrJoin(dims, ", "), "]");
}

// Puts the bytes in the place of the tensor's value, wherever that stood.
void SetBytes(std::string bytes, ::onnx::TensorProto& tensor) {
  ::onnx::TensorProto made;
  made.set_name(tensor.name());
  made.set_data_type(tensor.data_type());
  *made.mutable_dims() = tensor.dims();
  if (tensor.has_doc_string()) made.set_doc_string(tensor.doc_string());
  made.set_raw_data(std::move(bytes));
  tensor = std::move(made);
}

absl::Status Replace(const StoredView& value, ::onnx::TensorProto& tensor) {
  YUBA_ASSIGN_OR_RETURN(const ElementType type, ElementTypeFromOnnx(tensor.data_type()));
  const std::vector<int64_t> dims(tensor.dims().begin(), tensor.dims().end());
  std::vector<int64_t> given = value.tensor.dims;
  if (value.transposed) std::reverse(given.begin(), given.end());
  const absl::Status differs =
      UserError("the initializer ", tensor.name(), " is ", TypeText(type, dims), ", its new value ",
                TypeText(value.tensor.type, given));
  if (dims != given) return differs;
  absl::StatusOr<TensorData> read = ReadView(value, type);
  if (!read.ok()) return Annotate(read.status(), differs.message());
  SetBytes(std::move(read->data), tensor);
  return absl::OkStatus();
}

bool HasSeveralFloats(const ::onnx::TensorProto& tensor) {
  const absl::StatusOr<ElementType> type = ElementTypeFromOnnx(tensor.data_type());
  return type.ok() && IsFloat(*type) &&
         std::any_of(tensor.dims().begin(), tensor.dims().end(), [](int64_t d) { return d != 1; });
}

// The names of what training_info begins.
std::set<std::string> NamesOfBeginnings(const ::onnx::ModelProto& model) {
  std::set<std::string> names;
  for (const ::onnx::TrainingInfoProto& training : model.training_info()) {
    for (const ::onnx::StringStringEntryProto& binding : training.initialization_binding())
      names.insert(binding.key());
  }
  return names;
}

// A tensor of the input's name, type and shape, without a value.
::onnx::TensorProto TensorLike(const ::onnx::ValueInfoProto& input) {
  ::onnx::TensorProto tensor;
  tensor.set_name(input.name());
  tensor.set_data_type(input.type().tensor_type().elem_type());
  for (const auto& dim : input.type().tensor_type().shape().dim()) tensor.add_dims(dim.dim_value());
  return tensor;
}

// Makes initializers of those inputs of the graph that training_info begins and that have a new
// value. The bindings stay: they say how to begin again.
absl::Status ReplaceBeginnings(const std::map<std::string, StoredView>& values,
                               ::onnx::ModelProto& model, std::set<std::string>& found) {
  const std::set<std::string> beginnings = NamesOfBeginnings(model);
  ::onnx::GraphProto& graph = *model.mutable_graph();
  ::onnx::GraphProto others;
  for (::onnx::ValueInfoProto& input : *graph.mutable_input()) {
    const auto value = values.find(input.name());
    if (value == values.end() || beginnings.count(input.name()) == 0 ||
        found.count(input.name()) > 0) {
      *others.add_input() = std::move(input);
      continue;
    }
    ::onnx::TensorProto tensor = TensorLike(input);
    YUBA_RETURN_IF_ERROR(Replace(value->second, tensor));
    found.insert(input.name());
    *graph.add_initializer() = std::move(tensor);
  }
  graph.mutable_input()->Swap(others.mutable_input());
  return absl::OkStatus();
}

// The initializer of that name, with its value before anything was replaced.
absl::StatusOr<::onnx::TensorProto*> Initializer(const std::string& name,
                                                 ::onnx::ModelProto& model) {
  for (::onnx::TensorProto& tensor : *model.mutable_graph()->mutable_initializer()) {
    if (tensor.name() == name) return &tensor;
  }
  return UserError("the file has no initializer ", name);
}

// How the two are one weight in the file.
absl::StatusOr<Twins> TwinsIn(::onnx::ModelProto& model, const TiedNames& tie,
                              const std::string& folder) {
  YUBA_ASSIGN_OR_RETURN(const ::onnx::TensorProto* tied, Initializer(tie.tied, model));
  YUBA_ASSIGN_OR_RETURN(const ::onnx::TensorProto* kept, Initializer(tie.kept, model));
  YUBA_ASSIGN_OR_RETURN(const TensorData a, ReadTensor(*tied, folder));
  YUBA_ASSIGN_OR_RETURN(const TensorData b, ReadTensor(*kept, folder));
  const Twins twins = TwinsOf(a, b);
  if (twins != Twins::kNot) return twins;
  return UserError("their values in the file are neither equal nor each other's transpose");
}

// Gives the tied initializer the new value of the other one.
absl::Status ReplaceTied(const TiedNames& tie, Twins twins, const std::string& folder,
                         ::onnx::ModelProto& model) {
  YUBA_ASSIGN_OR_RETURN(::onnx::TensorProto * tied, Initializer(tie.tied, model));
  YUBA_ASSIGN_OR_RETURN(const ::onnx::TensorProto* kept, Initializer(tie.kept, model));
  YUBA_ASSIGN_OR_RETURN(TensorData value, ReadTensor(*kept, folder));
  if (twins == Twins::kTransposed) value = Transposed(value);
  SetBytes(std::move(value.data), *tied);
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<ReplacedValues> ReplaceValues(const std::string& path,
                                             const std::map<std::string, StoredView>& values,
                                             const std::vector<TiedNames>& ties) {
  YUBA_RETURN_IF_ERROR(ReadModelFile(path).status());  // says what is wrong with the file
  YUBA_ASSIGN_OR_RETURN(const std::string bytes, ReadFile(path));
  ::onnx::ModelProto model;
  if (!model.ParseFromString(bytes)) return UserError(path, ": this is no ONNX model");
  ReplacedValues result;
  std::set<std::string> found;
  const std::string folder = FolderOf(path);
  std::vector<Twins> twins;
  for (const TiedNames& tie : ties) {
    absl::StatusOr<Twins> known = TwinsIn(model, tie, folder);
    if (!known.ok()) {
      return Annotate(known.status(), absl::StrCat(path, ": --tie ", tie.tied, "=", tie.kept));
    }
    twins.push_back(*known);
  }
  for (::onnx::TensorProto& tensor : *model.mutable_graph()->mutable_initializer()) {
    const auto value = values.find(tensor.name());
    if (value == values.end()) continue;
    YUBA_RETURN_IF_ERROR(Annotate(Replace(value->second, tensor), path));
    found.insert(tensor.name());
  }
  YUBA_RETURN_IF_ERROR(Annotate(ReplaceBeginnings(values, model, found), path));
  for (size_t t = 0; t < ties.size(); ++t) {
    if (found.count(ties[t].kept) == 0) {
      return UserError(path, ": --tie ", ties[t].tied, "=", ties[t].kept,
                       ": there is no new value ", "of ", ties[t].kept);
    }
    YUBA_RETURN_IF_ERROR(ReplaceTied(ties[t], twins[t], folder, model));
    found.insert(ties[t].tied);
  }
  for (const ::onnx::TensorProto& tensor : model.graph().initializer()) {
    if (found.count(tensor.name()) == 0 && HasSeveralFloats(tensor))
      result.kept.push_back(tensor.name());
  }
  result.replaced = static_cast<int>(found.size());
  for (const auto& [name, value] : values) {
    if (found.count(name) == 0) result.unused.push_back(name);
  }
  if (found.empty()) {
    return UserError(path, ": no initializer has a name of ", absl::StrJoin(result.unused, ", "));
  }
  if (model.ByteSizeLong() > std::numeric_limits<int32_t>::max()) {
    return UserError(path, ": with the new values the file would be larger than 2 GB, which ONNX ",
                     "files cannot be");
  }
  result.model = model.SerializeAsString();
  return result;
}

}  // namespace yuba::onnx
