#include "compiler/import/formed_initializers.h"

#include <utility>

#include "compiler/import/file/file_graph.h"
#include "compiler/import/file/functions.h"
#include "compiler/import/file/read.h"
#include "compiler/import/parameters/export_record.h"
#include "compiler/import/parameters/missing_parameters.h"
#include "compiler/import/parameters/restored_parameters.h"
#include "compiler/import/parameters/stored_roles.h"
#include "opsemantics/base/status.h"

namespace yuba::onnx {

absl::StatusOr<std::vector<std::string>> RestoreInitializers(const std::string& folder,
                                                             ::onnx::ModelProto& model) {
  const int stored = model.graph().initializer_size();
  ExportRecord record = ReadExportRecord(model.graph());
  YUBA_ASSIGN_OR_RETURN(RestoredParameters restored, RestoreParameters(folder, model, record));
  std::vector<std::string> names;
  for (std::vector<std::string>* some :
       {&restored.left_out, &restored.repeated, &restored.merged, &restored.shared})
    names.insert(names.end(), some->begin(), some->end());
  // Those that graphs inside of nodes had have no other word.
  for (int t = stored; t < model.graph().initializer_size(); ++t)
    names.push_back(model.graph().initializer(t).name());
  return names;
}

absl::StatusOr<FormedInitializers> FindFormedInitializers(const std::string& path) {
  YUBA_ASSIGN_OR_RETURN(::onnx::ModelProto model, ReadModelFile(path));
  ExportRecord record = ReadExportRecord(model.graph());
  FormedInitializers found;
  if (!record.SaysKinds()) return found;
  YUBA_RETURN_IF_ERROR(Annotate(InlineFunctions(model), path));
  const auto restored = RestoreParameters(FolderOf(path), model, record);
  if (!restored.ok()) return Annotate(restored.status(), path);
  absl::StatusOr<FileGraph> order = OrderFileGraph(model.graph());
  if (!order.ok()) return Annotate(order.status(), path);
  StoredRoles roles = FindStoredRoles(model.graph(), record, *order);
  roles.missing.insert(restored->lost.begin(), restored->lost.end());
  found.missing = WithoutTensor(roles, record);
  for (auto& [name, role] : roles.of) {
    if (!role.form.has_value()) continue;
    const ::onnx::TensorProto& tensor = *order->initializers.at(name);
    found.formed[name] = {*std::move(role.form), {tensor.dims().begin(), tensor.dims().end()}};
  }
  return found;
}

}  // namespace yuba::onnx
