// The table of opaque functions on GPUs. Which uses of them the compiler gives to GPUs is said by
// program/opaque_on_gpus.h.
#ifdef YUBA_WITH_CUDA
#include "absl/strings/str_cat.h"
#include "opsemantics/base/status.h"
#include "runtime/cuda/argsort_kernel.h"
#include "runtime/cuda/opaque_kernel.h"
#include "runtime/program/opaque_on_gpus.h"

namespace yuba::cuda {
namespace {

struct Row {
  const char* function;
  std::unique_ptr<OpaqueKernel> (*make)(const OpaqueSite& site, const Gpu& gpu);
};

constexpr Row kRows[] = {
    {"argsort", MakeArgsortKernel},
};

}  // namespace

absl::StatusOr<std::unique_ptr<OpaqueKernel>> MakeOpaqueKernel(
    const runtime::LoadedProgram& program, const program::Kernel& kernel, int device,
    const Gpu& gpu) {
  const program::OpaqueCalls& calls = program.message().functions(kernel.function()).opaque();
  const OpaqueSite site = {runtime::PlaceSlices(program, kernel, device), calls, program.hash()};
  std::string why_not = runtime::WhyNotOnGpus(calls.name(), site.slices.signature);
  for (const Row& row : kRows) {
    if (why_not.empty() && calls.name() == row.function) return row.make(site, gpu);
  }
  if (why_not.empty()) why_not = "GPUs have no kernel of it";
  return UserError("the opaque function '", calls.name(), "' cannot run here: ", why_not,
                   "; compile with --target host and run it with --backend host");
}

std::vector<const char*> OpaqueKernelNames() {
  std::vector<const char*> names;
  for (const Row& row : kRows) names.push_back(row.function);
  return names;
}

}  // namespace yuba::cuda

#endif  // YUBA_WITH_CUDA
