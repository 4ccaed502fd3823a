#include "runtime/backend.h"

#include "opsemantics/base/status.h"
#include "runtime/cuda/cuda_backend.h"
#include "runtime/host/host_backend.h"

namespace yuba::runtime {
namespace {

struct Backend {
  const char* name;
  absl::Status (*open)(const LoadedProgram& program, const ArenaLayout& layout, Fleet& fleet);
};
constexpr Backend kBackends[] = {{"host", OpenHostBackend}, {"cuda", cuda::OpenCudaBackend}};

}  // namespace

std::string BackendNames() {
  std::string names;
  for (const Backend& backend : kBackends) {
    absl::StrAppend(&names, names.empty() ? "" : ", ", backend.name);
  }
  return names;
}

absl::Status CheckBackend(const std::string& name) {
  for (const Backend& backend : kBackends) {
    if (backend.name == name) return absl::OkStatus();
  }
  return UserError("no back end ", name, "; there are ", BackendNames());
}

absl::Status OpenBackend(const std::string& name, const LoadedProgram& program,
                         const ArenaLayout& layout, Fleet& fleet) {
  for (const Backend& backend : kBackends) {
    if (backend.name == name) return backend.open(program, layout, fleet);
  }
  return CheckBackend(name);
}

}  // namespace yuba::runtime
