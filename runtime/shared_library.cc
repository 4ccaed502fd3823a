#include "runtime/shared_library.h"

#include <dlfcn.h>
#include <link.h>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"

namespace yuba::runtime {

bool IsForLackOfMemory(const std::string& problem) {
  return absl::StrContains(problem, "allocate memory") ||
         absl::StrContains(problem, "failed to map segment");
}

absl::StatusOr<SharedLibrary> SharedLibrary::Open(const std::vector<std::string>& names) {
  std::string reason;
  for (const std::string& name : names) {
    void* handle = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (handle != nullptr) {
      link_map* map = nullptr;
      const bool known = dlinfo(handle, RTLD_DI_LINKMAP, &map) == 0 && map->l_name[0] != '\0';
      return SharedLibrary(handle, known ? map->l_name : name);
    }
    const char* error = dlerror();
    if (reason.empty()) reason = error != nullptr ? error : absl::StrCat(name, ": not found");
  }
  return absl::UnavailableError(reason);
}

absl::StatusOr<void*> SharedLibrary::Address(const char* symbol) const {
  void* address = dlsym(handle_, symbol);
  if (address == nullptr) {
    return absl::UnavailableError(
        absl::StrCat(path_, " has no ", symbol, "; another version of the library is needed"));
  }
  return address;
}

}  // namespace yuba::runtime
