#include "tools/calibrate/calibrate.h"

#include <unistd.h>

#include <algorithm>
#include <map>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "opsemantics/base/files.h"
#include "opsemantics/base/status.h"
#include "opsemantics/machine/collective_table.h"
#include "runtime/devices.h"
#include "tools/calibrate/measure_kernels.h"
#include "tools/calibrate/measure_links.h"
#include "tools/calibrate/repeats.h"
#include "tools/version.h"

namespace yuba::tools {
namespace {

constexpr int kVirtualDevices = 8;
constexpr double kBeyondCaches = 1e8;  // bytes

// "AMD EPYC ..." as the system names its processors; empty where it does not.
std::string ProcessorName() {
  const absl::StatusOr<std::string> text = ReadFile("/proc/cpuinfo");
  if (!text.ok()) return "";
  const std::string key = "model name\t: ";
  const size_t begin = text->find(key);
  if (begin == std::string::npos) return "";
  return text->substr(begin + key.size(), text->find('\n', begin) - begin - key.size());
}

absl::StatusOr<FoundMachine> FindGpus(const runtime::MachineFacts& facts, int devices) {
  FoundMachine found;
  const cuda::GpuFacts& first = facts.gpus[0];
  const auto gpus = static_cast<int>(facts.gpus.size());
  found.devices = devices == 0 ? gpus : devices;
  if (found.devices > gpus) return UserError(devices, " devices: this machine has ", gpus, " GPUs");
  for (int i = 0; i < found.devices; ++i) {
    const cuda::GpuFacts& gpu = facts.gpus[i];
    if (gpu.name == first.name && gpu.memory == first.memory) continue;
    return UserError("GPU 0 is ", first.name, " and GPU ", i, " ", gpu.name,
                     ": a machine has one kind of devices; --devices ", i, " takes those before");
  }
  found.backend = "cuda";
  found.device = first.name;
  found.memory = first.memory;
  found.about = absl::StrCat(found.devices, " ", first.name);
  return found;
}

// Rates and bandwidth are the best that was seen: models are shares of them.
void SetBest(const std::vector<KernelSample>& kernels, DeviceModel& device) {
  std::map<ElementType, double> best;
  double any = 0;
  for (const KernelSample& kernel : kernels) {
    const double bandwidth = kernel.work.bytes / kernel.seconds;
    const KernelClass kernel_class = kernel.work.kernel_class;
    if (kernel_class == KernelClass::kProduct || kernel_class == KernelClass::kConvolution) {
      double& rate = best[kernel.work.type];
      rate = std::max(rate, kernel.work.operations / kernel.seconds);
    }
    any = std::max(any, bandwidth);
    if (kernel.work.bytes > kBeyondCaches) device.bandwidth = std::max(device.bandwidth, bandwidth);
  }
  if (device.bandwidth == 0) device.bandwidth = any;
  device.rates = std::move(best);
}

// What one of the processors that all devices share does alone, or the other way round: KernelModel
// is of a device that has them all, and what was measured is one processor's.
DeviceModel Times(DeviceModel device, double processors) {
  device.bandwidth *= processors;
  for (auto& [type, rate] : device.rates) rate *= processors;
  return device;
}

// Whether rounds agree, of which `result` gets the spreads, and whether the machine is ours.
absl::Status CheckQuiet(const std::vector<double>& spreads, const OthersShare& others,
                        Measurement& result) {
  result.widest = *std::max_element(spreads.begin(), spreads.end());
  result.spread = MedianOf(spreads);
  result.others = others.Share();
  if (result.spread <= kMostSpread && result.others <= kMostOthers) return absl::OkStatus();
  return absl::ResourceExhaustedError(absl::StrFormat(
      "the machine is busy: rounds of one measurement differ by %.0f %% in the median and by "
      "%.0f %% at most, where %.0f %% in the median is the most; others use %.0f %% of the "
      "processors' time, where %.0f %% is the most: try again when nothing else runs; where "
      "threads "
      "wake up late all the same, with real-time priority (chrt -r 1 yuba calibrate ...)",
      100 * result.spread, 100 * result.widest, 100 * kMostSpread, 100 * result.others,
      100 * kMostOthers));
}

// One device has nobody to exchange with.
LinkModel NoLink(const DeviceModel& device) {
  LinkModel link;
  link.name = "none";
  link.bandwidth = device.bandwidth;
  return link;
}

}  // namespace

absl::StatusOr<FoundMachine> FindThisMachine(int devices) {
  const runtime::MachineFacts facts = runtime::FindDevices();
  if (!facts.gpus.empty()) return FindGpus(facts, devices);
  FoundMachine found;
  found.devices = devices == 0 ? std::min(kVirtualDevices, facts.virtual_devices) : devices;
  if (found.devices > facts.virtual_devices) {
    return UserError(devices, " devices: at most ", facts.virtual_devices,
                     " virtual devices run on this machine");
  }
  found.device = "host";
  found.processors = facts.processors;
  found.memory = int64_t{sysconf(_SC_PHYS_PAGES)} * sysconf(_SC_PAGESIZE) / found.devices;
  found.about = absl::StrCat(found.devices, " virtual devices on ", facts.processors,
                             " processors, ", ProcessorName());
  return found;
}

DeviceModel OneProcessorOf(const DeviceModel& device) {
  return Times(device, 1.0 / std::max(1, device.processors));
}

absl::StatusOr<Measurement> MeasureMachine(const FoundMachine& found) {
  Measurement result;
  const OthersShare others;
  YUBA_ASSIGN_OR_RETURN(MeasuredKernels kernels,
                        MeasureKernels(found.backend, std::max(1, found.processors)));
  result.kernels = std::move(kernels.samples);
  std::vector<double> spreads = std::move(kernels.spreads);
  YUBA_RETURN_IF_ERROR(CheckQuiet(spreads, others, result));
  DeviceModel& device = result.machine.device;
  device.name = found.device;
  device.memory = found.memory;
  device.processors = found.processors;
  device.launch = kernels.launch;
  // On processors a device's own thread starts its instructions and runs them.
  device.issue = found.backend == "host" ? 0 : kernels.launch;
  device.kernels_version = kVersion;
  SetBest(result.kernels, device);
  FitKernels(result.kernels, device);
  device = Times(device, std::max(1, found.processors));
  result.machine.links.push_back(NoLink(device));
  if (found.devices > 1) {
    YUBA_ASSIGN_OR_RETURN(MeasuredLinks links, MeasureLinks(found.backend, found.devices));
    spreads.insert(spreads.end(), links.spreads.begin(), links.spreads.end());
    RaiseTables(links.link);
    result.links = absl::StrFormat("permutes: median %.0f %%, largest %.0f %%",
                                   100 * links.median_error, 100 * links.largest_error);
    result.machine.links[0] = std::move(links.link);
  }
  YUBA_RETURN_IF_ERROR(CheckQuiet(spreads, others, result));
  return result;
}

}  // namespace yuba::tools
