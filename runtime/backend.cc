#include "runtime/backend.h"

#include "opsemantics/base/status.h"
#include "runtime/host/host_backend.h"

namespace yuba::runtime {
namespace {

struct Backend {
  const char* name;
  double timeout_seconds;
  absl::Status (*open)(const LoadedProgram& program, const ArenaLayout& layout,
                       const BackendOptions& options, Fleet& fleet);
};

absl::Status OpenHost(const LoadedProgram& program, const ArenaLayout& layout,
                      const BackendOptions& options, Fleet& fleet) {
  return OpenHostBackend(program, layout, options.threads_per_device, fleet);
}

absl::Status OpenCuda(const LoadedProgram& program, const ArenaLayout& layout,
                      const BackendOptions& options, Fleet& fleet) {
  return cuda::OpenCudaBackend(program, layout, options.cuda, options.timeout_seconds, fleet);
}

constexpr Backend kBackends[] = {{"host", 600, OpenHost}, {"cuda", 60, OpenCuda}};

}  // namespace

std::string BackendNames() {
  std::string names;
  for (const Backend& backend : kBackends) {
    absl::StrAppend(&names, names.empty() ? "" : ", ", backend.name);
  }
  return names;
}

double DefaultTimeout(const std::string& name) {
  for (const Backend& backend : kBackends) {
    if (backend.name == name) return backend.timeout_seconds;
  }
  return 0;
}

absl::Status CheckBackend(const std::string& name) {
  for (const Backend& backend : kBackends) {
    if (backend.name == name) return absl::OkStatus();
  }
  return UserError("no back end ", name, "; there are ", BackendNames());
}

absl::Status OpenBackend(const std::string& name, const LoadedProgram& program,
                         const ArenaLayout& layout, const BackendOptions& options, Fleet& fleet) {
  for (const Backend& backend : kBackends) {
    if (backend.name == name) return backend.open(program, layout, options, fleet);
  }
  return CheckBackend(name);
}

}  // namespace yuba::runtime
