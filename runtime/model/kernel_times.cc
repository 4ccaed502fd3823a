#include "runtime/model/kernel_times.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "runtime/host/launch_parts.h"
#include "runtime/program/work.h"

namespace yuba::runtime {
namespace {

// Adds the mesh axes on which the size of a range depends.
void AddAxesOfSize(const Mesh& mesh, const program::Range& range, std::set<int>& axes) {
  std::vector<int> named(range.begin().axes().begin(), range.begin().axes().end());
  for (const int axis : range.end().axes()) {
    if (std::find(named.begin(), named.end(), axis) == named.end()) named.push_back(axis);
  }
  if (named.empty()) return;
  std::vector<int> weights;  // what a step along an axis adds to a device's number
  for (const int axis : named) {
    int weight = 1;
    for (size_t a = axis + 1; a < mesh.axes.size(); ++a) weight *= mesh.axes[a].size;
    weights.push_back(weight);
  }
  // All coordinates on the named axes, the others 0; along each axis sizes are compared.
  std::vector<int> devices = {0};
  for (size_t n = 0; n < named.size(); ++n) {
    std::vector<int> more;
    for (const int device : devices) {
      for (int c = 0; c < mesh.axes[named[n]].size; ++c) more.push_back(device + c * weights[n]);
    }
    devices = std::move(more);
  }
  const auto size = [&](int device) { return program::IntervalOn(mesh, range, device).size(); };
  for (size_t n = 0; n < named.size(); ++n) {
    if (axes.count(named[n]) > 0) continue;
    const bool depends = std::any_of(devices.begin(), devices.end(), [&](int device) {
      return size(device) != size(device - mesh.coordinate(device, named[n]) * weights[n]);
    });
    if (depends) axes.insert(named[n]);
  }
}

// The axes on which the work of a kernel depends.
std::set<int> AxesOfWork(const Mesh& mesh, const program::Kernel& kernel) {
  std::set<int> axes;
  const auto add = [&](const program::Box& box) {
    for (const program::Range& range : box.dims()) AddAxesOfSize(mesh, range, axes);
  };
  for (const program::Range& range : kernel.indices()) AddAxesOfSize(mesh, range, axes);
  for (const program::WorkRange& work : kernel.work_ranges())
    AddAxesOfSize(mesh, work.range(), axes);
  for (const program::Access& operand : kernel.operands()) add(operand.box());
  for (const program::Access& result : kernel.results()) add(result.box());
  return axes;
}

int ThreadsOf(const Machine& machine, const RunPolicy& policy, int devices) {
  if (policy.threads_per_device > 0) return policy.threads_per_device;
  return std::max(1, machine.device.processors / devices);
}

// Of `threads`, those among which a device shares out a kernel: as HostDevice does it.
int ThreadsOfKernel(const LoadedProgram& program, const program::Kernel& kernel, int device,
                    const program::Work& work, int threads) {
  if (threads < 2) return 1;
  if (!work.kernel.library) {
    const std::vector<int64_t> arguments(2 * kernel.indices_size());
    return static_cast<int>(LaunchParts(program, kernel, device, threads, arguments).size());
  }
  if (work.kernel.kernel_class != KernelClass::kProduct) return threads;
  return static_cast<int>(
      std::max(1.0, std::min<double>(threads, std::floor(work.points / kProductsPerThread))));
}

KernelTime TimeOn(const LoadedProgram& program, const program::Kernel& kernel,
                  const std::vector<bool>& unmoved, int device, const Machine& machine,
                  const RunPolicy& policy) {
  const program::Work work =
      program::WorkOn(program.message(), program.mesh(), kernel, device, unmoved);
  KernelTime time;
  time.kernel_class = work.kernel.kernel_class;
  time.operations = work.kernel.operations;
  time.bytes = work.kernel.bytes;
  time.runs = work.points > 0;
  if (!time.runs) return time;
  const KernelModel& model =
      machine.device.kernels[work.kernel.library][static_cast<int>(work.kernel.kernel_class)];
  time.start = model.start;
  time.seconds = std::max(0.0, KernelSeconds(machine, work.kernel) - model.start);
  if (machine.device.processors == 0) return time;
  // KernelSeconds is of a device that has all processors.
  time.seconds *= machine.device.processors;
  // Threads that share a product out each turn the operand for themselves.
  KernelWork straight = work.kernel;
  double& turned = straight.extras[static_cast<int>(Extra::kTurned)];
  if (work.kernel.library && turned > 0) {
    turned = 0;
    const double others =
        std::max(0.0, KernelSeconds(machine, straight) - model.start) * machine.device.processors;
    time.start += time.seconds - others;
    time.seconds = others;
  }
  time.processors =
      ThreadsOfKernel(program, kernel, device, work, ThreadsOf(machine, policy, program.devices()));
  return time;
}

}  // namespace

KernelTimes KernelTimesOf(const LoadedProgram& program, const program::Kernel& kernel,
                          const std::vector<bool>& unmoved, const Machine& machine,
                          const RunPolicy& policy) {
  const Mesh& mesh = program.mesh();
  const std::set<int> axes = AxesOfWork(mesh, kernel);
  KernelTimes times;
  std::vector<int>
      variant_of;  // by the device's coordinates on `axes`, read as digits; -1: none yet
  int combinations = 1;
  for (const int axis : axes) combinations *= mesh.axes[axis].size;
  variant_of.assign(combinations, -1);
  for (int device = 0; device < program.devices(); ++device) {
    int place = 0;
    for (const int axis : axes)
      place = place * mesh.axes[axis].size + mesh.coordinate(device, axis);
    if (variant_of[place] < 0) {
      const KernelTime time = TimeOn(program, kernel, unmoved, device, machine, policy);
      const auto known = std::find(times.variants.begin(), times.variants.end(), time);
      variant_of[place] = static_cast<int>(known - times.variants.begin());
      if (known == times.variants.end()) times.variants.push_back(time);
    }
    times.variant.push_back(variant_of[place]);
  }
  return times;
}

}  // namespace yuba::runtime
