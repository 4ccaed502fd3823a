#include "runtime/backend.h"

#include "opsemantics/base/status.h"
#include "runtime/cuda/cuda_backend.h"
#include "runtime/host/host_backend.h"

namespace yuba::runtime {
namespace {

struct Backend {
  const char* name;
  absl::Status (*open)(const LoadedProgram& program, const ArenaLayout& layout,
                       int threads_per_device, Fleet& fleet);
};

absl::Status OpenCuda(const LoadedProgram& program, const ArenaLayout& layout,
                      int /*threads_per_device*/, Fleet& fleet) {
  return cuda::OpenCudaBackend(program, layout, fleet);
}

constexpr Backend kBackends[] = {{"host", OpenHostBackend}, {"cuda", OpenCuda}};

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
                         const ArenaLayout& layout, int threads_per_device, Fleet& fleet) {
  for (const Backend& backend : kBackends) {
    if (backend.name == name) return backend.open(program, layout, threads_per_device, fleet);
  }
  return CheckBackend(name);
}

}  // namespace yuba::runtime
