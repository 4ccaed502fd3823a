// This machine measured: a Machine, and how far its models are off what was measured.
#ifndef YUBA_TOOLS_CALIBRATE_CALIBRATE_H_
#define YUBA_TOOLS_CALIBRATE_CALIBRATE_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "opsemantics/machine/machine.h"
#include "tools/calibrate/fit.h"

namespace yuba::tools {

// What this machine is, as the system and the drivers say.
struct FoundMachine {
  std::string backend = "host";  // that runs programs
  std::string device;            // as the driver names the GPU, or "host"
  std::string about;             // in words
  int devices = 1;               // GPUs, or virtual devices
  int processors = 0;            // that these share; 0: each has its own
  int64_t memory = 0;            // of a device
};

// GPUs where there are some, which must be alike, else processors. `devices`: how many virtual
// devices, or of the GPUs how many; 0: 8, or all. A user's error where there are fewer.
absl::StatusOr<FoundMachine> FindThisMachine(int devices);

struct Measurement {
  std::vector<KernelSample> kernels;
  Machine machine;    // of one node; without a name and price
  double spread = 0;  // of rounds: the median
  double widest = 0;  // and the largest
  double others = 0;  // share of the processors' time that others used meanwhile
  std::string links;  // how far latency and bandwidth of the links are off, in words
};

// One of the processors that devices share, of which Measurement::kernels are.
DeviceModel OneProcessorOf(const DeviceModel& device);

// Takes about two minutes. Errors are those of compiling and of sessions. ResourceExhausted where
// others use the machine: the spread is above kMostSpread, or their share above kMostOthers
// (repeats.h).
absl::StatusOr<Measurement> MeasureMachine(const FoundMachine& found);

}  // namespace yuba::tools

#endif  // YUBA_TOOLS_CALIBRATE_CALIBRATE_H_
