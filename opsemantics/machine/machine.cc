#include "opsemantics/machine/machine.h"

#include <algorithm>

#include "opsemantics/base/check.h"

namespace yuba {

int KindBetween(const Machine& machine, int device, int other) {
  YUBA_CHECK(0 <= device && device < machine.devices() && 0 <= other && other < machine.devices())
      << "devices " << device << " and " << other << " of " << machine.devices();
  int kind = 0;
  while (device / machine.links[kind].devices != other / machine.links[kind].devices) ++kind;
  return kind;
}

double SpeedShare(const Machine& machine, int computing) {
  YUBA_CHECK(computing >= 1) << computing << " devices";
  return machine.device.processors == 0 ? 1 : 1.0 / computing;
}

double KernelSeconds(const Machine& machine, const KernelWork& work) {
  const DeviceModel& device = machine.device;
  const KernelModel& model = device.kernels[work.library][static_cast<int>(work.kernel_class)];
  const auto rate = device.rates.find(work.library ? work.type : AccumulatorType(work.type));
  YUBA_CHECK(rate != device.rates.end()) << "no rate of " << Name(work.type);
  double operations = work.operations;
  for (int e = 0; e < kExtras; ++e) operations += work.extras[e] * model.extra_operations[e];
  const double computing = operations / (rate->second * model.rate_share);
  const double moving = work.bytes / (device.bandwidth * model.bandwidth_share);
  const double idle = work.results > 0 ? model.half_rate / work.results : 0;
  return model.start + std::max(computing, moving) * (1 + idle);
}

}  // namespace yuba
