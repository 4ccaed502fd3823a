#ifdef YUBA_WITH_CUDA
#include "runtime/cuda/open_devices.h"

#include <algorithm>
#include <iostream>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <tuple>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "opsemantics/base/status.h"

namespace yuba::cuda {
namespace {

// Whether the GPU has room for these devices, all it has, before their memory is allocated.
absl::Status CheckMemory(const Gpu& gpu, const std::vector<const CudaDevice*>& devices) {
  size_t free = 0, total = 0;
  YUBA_RETURN_IF_ERROR(gpu.Enter());
  YUBA_CUDA(cudaMemGetInfo(&free, &total));
  int64_t needed = 0, tensors = 0, libraries = 0;  // of all devices; of those that need most
  for (const CudaDevice* device : devices) {
    needed += device->arena_bytes() + device->workspace_bytes();
    tensors = std::max(tensors, device->arena_bytes());
    libraries = std::max(libraries, device->workspace_bytes());
  }
  if (needed <= static_cast<int64_t>(free)) return absl::OkStatus();
  return absl::ResourceExhaustedError(absl::StrFormat(
      "GPU %d has %.1f MB free of %.1f, and the program needs %.1f: %d of its devices, each with "
      "%.1f MB for tensors and up to %.1f for libraries; plan it with --memory, for more devices, "
      "or end what else uses the GPU",
      gpu.number(), 1e-6 * static_cast<double>(free), 1e-6 * static_cast<double>(total),
      1e-6 * static_cast<double>(needed), devices.size(), 1e-6 * static_cast<double>(tensors),
      1e-6 * static_cast<double>(libraries)));
}

// One line for each library and cause: what its calls are run as, and the first of them.
void WarnOfFallbacks(const runtime::LoadedProgram& program,
                     const std::vector<CudaDevice*>& devices) {
  // Library, cause and what runs instead: instructions.
  std::map<std::tuple<std::string, std::string, std::string>, std::set<int>> by_cause;
  for (const CudaDevice* device : devices) {
    for (const Fallback& fallback : device->fallbacks())
      by_cause[{fallback.library, fallback.cause, fallback.as}].insert(fallback.instruction);
  }
  for (const auto& [why, instructions] : by_cause) {
    const size_t more = instructions.size() - 1;
    const auto& [library, cause, as] = why;
    std::cerr << "warning: without " << library << ", " << program.Describe(*instructions.begin())
              << (more == 0 ? " runs" : absl::StrCat(" and ", more, " more run")) << " as " << as
              << ", which is slower: " << cause << "\n";
  }
}

// A line where products run by the heuristics all the same.
void NoteUntuned(const Tuning& tuning) {
  const auto note = [](const char* what, const std::map<TunedCall, std::string>& calls) {
    if (calls.empty()) return;
    const auto& [call, why] = *calls.begin();
    std::cerr << "note: " << what << " " << call.call
              << (calls.size() == 1 ? "" : absl::StrCat(" and ", calls.size() - 1, " more"))
              << ": cuBLASLt's heuristics choose, as without --tune: " << why << "\n";
  };
  note("the library refuses the tuning's algorithm of", tuning.refused());
  note("the tuning cannot have an algorithm of", tuning.skipped());
}

}  // namespace

absl::StatusOr<std::vector<CudaDevice*>> OpenDevices(const runtime::LoadedProgram& program,
                                                     const runtime::ArenaLayout& layout,
                                                     const CudaOptions& options,
                                                     double copy_seconds,
                                                     const std::vector<int>& gpu_of,
                                                     runtime::Fleet& fleet) {
  std::map<int, std::shared_ptr<const Gpu>> gpus;
  for (int number : gpu_of) {
    if (number < 0 || gpus.count(number) > 0) continue;
    YUBA_ASSIGN_OR_RETURN(gpus[number], Gpu::Open(number, program));
  }
  std::vector<CudaDevice*> devices;
  std::map<int, std::vector<const CudaDevice*>> of_gpu;
  for (size_t device = 0; device < gpu_of.size(); ++device) {
    fleet.devices.emplace_back();
    if (gpu_of[device] < 0) continue;
    auto made = std::make_unique<CudaDevice>(static_cast<int>(device), gpus.at(gpu_of[device]),
                                             copy_seconds);
    devices.push_back(made.get());
    of_gpu[gpu_of[device]].push_back(made.get());
    fleet.devices.back() = std::move(made);
    YUBA_RETURN_IF_ERROR(devices.back()->PlanLibraryCalls(program, layout, options.tuning.get()));
  }
  for (const auto& [number, here] : of_gpu)
    YUBA_RETURN_IF_ERROR(CheckMemory(*gpus.at(number), here));
  WarnOfFallbacks(program, devices);
  if (options.tuning != nullptr) NoteUntuned(*options.tuning);
  for (CudaDevice* device : devices) YUBA_RETURN_IF_ERROR(device->Prepare(program, layout));
  return devices;
}

}  // namespace yuba::cuda

#endif  // YUBA_WITH_CUDA
