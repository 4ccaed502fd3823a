#include "opsemantics/base/module_name.h"

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"

namespace yuba {

std::string NameInModule(absl::string_view module, absl::string_view name) {
  if (module.empty() || absl::StrContains(name, module)) return std::string(name);
  return absl::StrCat(module, kOfModule, name);
}

absl::string_view NameAlone(absl::string_view name) {
  const size_t at = name.rfind(kOfModule);
  return at == absl::string_view::npos ? name : name.substr(at + kOfModule.size());
}

}  // namespace yuba
