#include "compiler/import/file/replace_values.h"

#include <algorithm>
#include <limits>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "compiler/import/file/external_data.h"
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

// Values by the names of initializers, and where they go: into the model, or into `outside`.
struct Values {
  std::map<std::string, StoredView> views;
  ExternalData outside;
  bool inside = true;
  std::set<std::string> found = {};  // names that the model has
};

absl::Status Replace(const StoredView& value, Values& values, ::onnx::TensorProto& tensor) {
  YUBA_ASSIGN_OR_RETURN(const ElementType type, ElementTypeFromOnnx(tensor.data_type()));
  const std::vector<int64_t> dims(tensor.dims().begin(), tensor.dims().end());
  std::vector<int64_t> given = value.tensor.dims;
  if (value.transposed) std::reverse(given.begin(), given.end());
  const bool fits = value.tensor.type == type || Widens(value.tensor.type, type);
  if (dims != given || !fits) {
    return UserError("the initializer ", tensor.name(), " is ", TypeText(type, dims),
                     ", its new value ", TypeText(value.tensor.type, given));
  }
  values.found.insert(tensor.name());
  if (!values.inside) {
    values.outside.Place(value, type, tensor);
    return absl::OkStatus();
  }
  YUBA_ASSIGN_OR_RETURN(TensorData read, ReadView(value, type));
  ClearValue(tensor);
  tensor.set_raw_data(std::move(read.data));
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
absl::Status ReplaceBeginnings(::onnx::ModelProto& model, Values& values) {
  const std::set<std::string> beginnings = NamesOfBeginnings(model);
  ::onnx::GraphProto& graph = *model.mutable_graph();
  ::onnx::GraphProto others;
  for (::onnx::ValueInfoProto& input : *graph.mutable_input()) {
    const auto value = values.views.find(input.name());
    if (value == values.views.end() || beginnings.count(input.name()) == 0 ||
        values.found.count(input.name()) > 0) {
      *others.add_input() = std::move(input);
      continue;
    }
    ::onnx::TensorProto tensor = TensorLike(input);
    YUBA_RETURN_IF_ERROR(Replace(value->second, values, tensor));
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
absl::Status AddTied(const TiedNames& tie, const std::string& folder, ::onnx::ModelProto& model,
                     std::map<std::string, StoredView>& views) {
  YUBA_ASSIGN_OR_RETURN(const Twins twins, TwinsIn(model, tie, folder));
  const auto kept = views.find(tie.kept);
  if (kept == views.end()) return UserError("there is no new value of ", tie.kept);
  StoredView view = kept->second;
  view.transposed ^= twins == Twins::kTransposed;
  views[tie.tied] = view;
  return absl::OkStatus();
}

// Whether the model with all of these values in it is one that protobuf can write.
bool FitsInside(const ::onnx::ModelProto& model, const std::map<std::string, StoredView>& views) {
  constexpr int64_t kRoom = 1 << 20;  // for names and sizes of values
  auto bytes = static_cast<int64_t>(model.ByteSizeLong()) + kRoom;
  for (const auto& [name, view] : views) bytes += 2 * view.tensor.bytes.length;  // halves widen
  return bytes < std::numeric_limits<int32_t>::max();
}

// External tensors that get no new value: they stay where they are if the new model finds them.
absl::Status PlaceOthers(const std::string& folder, const std::string& new_folder,
                         ::onnx::ModelProto& model, Values& values) {
  if (SameFile(folder, new_folder)) return absl::OkStatus();
  std::set<std::string> replaced;
  for (const ::onnx::TensorProto& tensor : model.graph().initializer()) {
    if (values.views.count(tensor.name()) > 0) replaced.insert(tensor.name());
  }
  return values.outside.PlaceAll(folder, replaced, model);
}

absl::Status ReplaceMade(const TensorData& value, Values& values, ::onnx::TensorProto& tensor) {
  YUBA_ASSIGN_OR_RETURN(const ElementType type, ElementTypeFromOnnx(tensor.data_type()));
  const std::vector<int64_t> dims(tensor.dims().begin(), tensor.dims().end());
  const absl::StatusOr<TensorData> wide = Widened(value, type);
  if (!wide.ok() || dims != value.dims) {
    return UserError("the initializer ", tensor.name(), " is ", TypeText(type, dims),
                     ", its new value ", TypeText(value.type, value.dims));
  }
  values.found.insert(tensor.name());
  ClearValue(tensor);
  tensor.set_raw_data(wide->data);
  return absl::OkStatus();
}

absl::Status ReplaceAll(const std::map<std::string, TensorData>& made, ::onnx::ModelProto& model,
                        Values& values) {
  for (::onnx::TensorProto& tensor : *model.mutable_graph()->mutable_initializer()) {
    const auto value = made.find(tensor.name());
    if (value != made.end()) YUBA_RETURN_IF_ERROR(ReplaceMade(value->second, values, tensor));
  }
  for (::onnx::TensorProto& tensor : *model.mutable_graph()->mutable_initializer()) {
    const auto value = values.views.find(tensor.name());
    if (value != values.views.end()) YUBA_RETURN_IF_ERROR(Replace(value->second, values, tensor));
  }
  return ReplaceBeginnings(model, values);
}

}  // namespace

absl::StatusOr<ReplacedValues> ReplaceValues(const std::string& path, const std::string& new_path,
                                             const std::map<std::string, StoredView>& views,
                                             const std::vector<TiedNames>& ties,
                                             const std::map<std::string, TensorData>& made,
                                             const PrepareModel& prepare) {
  YUBA_RETURN_IF_ERROR(ReadModelFile(path).status());  // says what is wrong with the file
  YUBA_ASSIGN_OR_RETURN(const std::string bytes, ReadFile(path));
  ::onnx::ModelProto model;
  if (!model.ParseFromString(bytes)) return UserError(path, ": this is no ONNX model");
  if (prepare) YUBA_RETURN_IF_ERROR(Annotate(prepare(model), path));
  const std::string folder = FolderOf(path);
  Values values{views, ExternalData(BaseName(new_path) + ".data")};
  for (const TiedNames& tie : ties) {
    const absl::Status added = AddTied(tie, folder, model, values.views);
    if (!added.ok())
      return Annotate(added, absl::StrCat(path, ": --tie ", tie.tied, "=", tie.kept));
  }
  YUBA_RETURN_IF_ERROR(Annotate(PlaceOthers(folder, FolderOf(new_path), model, values), path));
  values.inside = FitsInside(model, values.views);
  YUBA_RETURN_IF_ERROR(Annotate(ReplaceAll(made, model, values), path));
  ReplacedValues result;
  for (const ::onnx::TensorProto& tensor : model.graph().initializer()) {
    if (values.found.count(tensor.name()) == 0 && HasSeveralFloats(tensor))
      result.kept.push_back(tensor.name());
  }
  result.replaced = static_cast<int>(values.found.size());
  for (const auto& [name, value] : views) {
    if (values.found.count(name) == 0) result.unused.push_back(name);
  }
  if (values.found.empty()) {
    return UserError(path, ": no initializer has a name of ", absl::StrJoin(result.unused, ", "));
  }
  if (model.ByteSizeLong() > std::numeric_limits<int32_t>::max()) {
    return UserError(path, ": with the new values the file would be larger than 2 GB, which ONNX ",
                     "files cannot be");
  }
  result.model = model.SerializeAsString();
  result.outside = std::move(values.outside);
  return result;
}

}  // namespace yuba::onnx
