#include "runtime/backend.h"

#include "absl/strings/str_join.h"
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
  const Sums sums = options.cuda.sums.value_or(Sums::kOrdered);
  if (sums != Sums::kOrdered) {
    return UserError("--sums ", Name(sums), " is for ranks on GPUs, which add up through NCCL: ",
                     "processors always add up in the order of the partials");
  }
  return OpenHostBackend(program, layout, options.threads_per_device, options.job, fleet);
}

absl::Status OpenCuda(const LoadedProgram& program, const ArenaLayout& layout,
                      const BackendOptions& options, Fleet& fleet) {
  return cuda::OpenCudaBackend(program, layout, options.cuda, options.timeout_seconds, options.job,
                               fleet);
}

constexpr Backend kBackends[] = {{"host", 600, OpenHost}, {"cuda", 60, OpenCuda}};

}  // namespace

std::vector<std::string> BackendNames() {
  std::vector<std::string> names;
  for (const Backend& backend : kBackends) names.push_back(backend.name);
  return names;
}

double DefaultTimeout(const std::string& name) {
  for (const Backend& backend : kBackends) {
    if (backend.name == name) return backend.timeout_seconds;
  }
  return 0;
}

absl::Status OpenBackend(const std::string& name, const LoadedProgram& program,
                         const ArenaLayout& layout, const BackendOptions& options, Fleet& fleet) {
  if (options.job != nullptr && options.job->size() != program.devices()) {
    return UserError("the program is for ", program.devices(), " devices, and ",
                     options.job->Self().launcher, " has started ", options.job->size(),
                     " ranks: each has one device, so start ", program.devices());
  }
  fleet.job = options.job;
  for (const Backend& backend : kBackends) {
    if (backend.name == name) return backend.open(program, layout, options, fleet);
  }
  return UserError("no back end ", name, "; there are ", absl::StrJoin(BackendNames(), ", "));
}

}  // namespace yuba::runtime
