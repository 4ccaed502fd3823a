#include "opsemantics/values/stored_form.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "opsemantics/base/status.h"

namespace yuba {
namespace {

std::string Shape(const std::vector<int64_t>& dims) {
  return absl::StrCat("[", absl::StrJoin(dims, ", "), "]");
}

int64_t CountOf(const std::vector<int64_t>& dims) {
  int64_t elements = 1;
  for (const int64_t dim : dims) elements *= dim;
  return elements;
}

}  // namespace

std::string NameOf(const StoredForm& form) {
  if (form.kind == StoredForm::kUnknown || form.kind == StoredForm::kRenamed) return form.stored_as;
  const char* how = form.kind == StoredForm::kTransposed ? ", transposed"
                    : form.kind == StoredForm::kReshaped ? ", reshaped"
                    : form.parameters.size() > 1         ? ", joined"
                    : form.blocks.empty()                ? ", reshaped"
                                                         : ", gates reordered";
  return absl::StrCat(absl::StrJoin(form.parameters, " and "), how);
}

bool IsCalled(const StoredForm& form, const std::string& name) {
  return name == form.stored_as || name == NameOf(form) ||
         std::count(form.parameters.begin(), form.parameters.end(), name) > 0;
}

absl::StatusOr<TensorData> InStoredForm(const StoredForm& form, ElementType type,
                                        const std::vector<int64_t>& dims,
                                        const std::vector<TensorData>& parameters) {
  if (form.kind == StoredForm::kUnknown) {
    return UserError(form.stored_as, " is ", absl::StrJoin(form.parameters, " and "),
                     " in an order that the file does not tell: give a value of ", form.stored_as);
  }
  TensorData tensor{type, dims, ""};
  int64_t elements = 0;
  for (size_t p = 0; p < parameters.size(); ++p) {
    const TensorData& parameter = parameters[p];
    const std::string& name = form.parameters[p];
    if (parameter.type != type) {
      return UserError(name, " is ", Name(parameter.type), ", and the tensor ", Name(type));
    }
    elements += CountOf(parameter.dims);
    const auto size = static_cast<size_t>(ByteSize(type));
    if (form.kind == StoredForm::kTransposed) {
      const std::vector<int64_t> turned(dims.rbegin(), dims.rend());
      if (parameter.dims.size() != 2 || parameter.dims != turned) {
        return UserError(name, " is ", Shape(parameter.dims), ", and its transpose ", Shape(dims));
      }
      tensor.data += Transposed(parameter).data;
      continue;
    }
    if (form.blocks.empty()) {
      tensor.data += parameter.data;
      continue;
    }
    const size_t block = parameter.data.size() / form.blocks.size();
    if (block * form.blocks.size() != parameter.data.size() || block % size != 0) {
      return UserError(name, " is ", Shape(parameter.dims), ", which has no ", form.blocks.size(),
                       " equal parts");
    }
    for (const int from : form.blocks)
      tensor.data += parameter.data.substr(static_cast<size_t>(from) * block, block);
  }
  if (elements == CountOf(dims)) return tensor;
  return UserError(absl::StrJoin(form.parameters, " and "), " have ", elements,
                   " elements, and the tensor is ", Shape(dims));
}

}  // namespace yuba
