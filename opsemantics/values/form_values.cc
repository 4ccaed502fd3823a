#include "opsemantics/values/form_values.h"

#include <utility>

#include "opsemantics/base/status.h"

namespace yuba {

absl::StatusOr<FormedValue> FindInForm(const StoredForm& form, const std::vector<int64_t>& dims,
                                       const FindValue& find) {
  using Found = absl::optional<StoredView>;
  if (form.kind == StoredForm::kRenamed) {
    // PyTorch may have another tensor by the name in the file.
    YUBA_ASSIGN_OR_RETURN(const Found found, find(form.parameters[0]));
    if (found.has_value()) return FormedValue{found, absl::nullopt};
  }
  for (const std::string& name : {NameOf(form), form.stored_as}) {
    // The transpose of a symmetric matrix may be stored under the parameter's own name.
    if (name != NameOf(form) && name == form.parameters[0]) continue;
    YUBA_ASSIGN_OR_RETURN(const Found found, find(name));
    if (found.has_value()) return FormedValue{found, absl::nullopt};
  }
  if (form.kind == StoredForm::kUnknown || form.kind == StoredForm::kRenamed) return FormedValue{};
  std::vector<StoredView> views;
  for (const std::string& name : form.parameters) {
    YUBA_ASSIGN_OR_RETURN(const Found found, find(name));
    if (!found.has_value()) return FormedValue{};
    views.push_back(*found);
  }
  if (form.kind == StoredForm::kTransposed && views[0].tensor.dims.size() == 2) {
    views[0].transposed ^= true;
    return FormedValue{views[0], absl::nullopt};
  }
  std::vector<TensorData> parameters;
  for (const StoredView& view : views) {
    YUBA_ASSIGN_OR_RETURN(TensorData read, ReadView(view, view.tensor.type));
    parameters.push_back(std::move(read));
  }
  YUBA_ASSIGN_OR_RETURN(TensorData made, InStoredForm(form, parameters[0].type, dims, parameters));
  return FormedValue{absl::nullopt, std::move(made)};
}

}  // namespace yuba
