// How the run time works that a prediction is for: what overlaps, and what waits for what.
#ifndef YUBA_RUNTIME_MODEL_POLICY_H_
#define YUBA_RUNTIME_MODEL_POLICY_H_

#include <string>
#include <vector>

#include "opsemantics/machine/machine.h"
#include "runtime/sums.h"

namespace yuba::runtime {

struct RunPolicy {
  std::string name;  // as people give it
  // One process drives all devices of a node: what it starts on them, it starts one after the
  // other, DeviceModel::issue seconds each. Else each device has a process of its own.
  bool one_process = true;
  // The host's thread of a device waits, at an exchange, for the threads of its peers
  // (runtime/exchange_protocol.h): until they have come to it, and until they have started to copy.
  // Else it starts all instructions without looking at other devices.
  bool hosts_wait = true;
  // Programs for two streams run exchanges beside the kernels, and wait for what they say. Else,
  // and in other programs, a device runs one instruction after the other.
  bool exchange_stream = false;
  // A library runs the all-gathers that it can, as long as the machine's tables say
  // (CollectiveTable); else all devices copy what they read.
  bool library_gathers = true;
  // And sums, but ordered ones: reduce-scatters, and all-reduces, which are one with the gather of
  // its result next to it.
  Sums sums = Sums::kOrdered;
  // Of devices that share processors: threads that compute a kernel on one device. 0: the
  // processors shared out over the devices, as `yuba run` does it.
  int threads_per_device = 0;

  friend bool operator==(const RunPolicy& a, const RunPolicy& b) { return a.name == b.name; }
};

// Virtual devices of one process.
inline RunPolicy OneProcessPolicy() {
  RunPolicy policy;
  policy.name = "one process";
  return policy;
}

// A process for each device, which starts all and never waits.
inline RunPolicy RanksPolicy(Sums sums = Sums::kRepeatable) {
  RunPolicy policy;
  policy.name = Name(sums);
  policy.one_process = policy.hosts_wait = false;
  policy.exchange_stream = true;
  policy.sums = sums;
  return policy;
}

// As `yuba run` runs a program on such a machine: one process where devices share processors; ranks
// on GPUs, first as they are without --sums.
inline std::vector<RunPolicy> PoliciesOn(const Machine& machine) {
  if (machine.device.processors > 0) return {OneProcessPolicy()};
  return {RanksPolicy(Sums::kRepeatable), RanksPolicy(Sums::kOrdered), RanksPolicy(Sums::kFast)};
}
inline RunPolicy PolicyOn(const Machine& machine) { return PoliciesOn(machine)[0]; }

}  // namespace yuba::runtime

#endif  // YUBA_RUNTIME_MODEL_POLICY_H_
