// The machine that plans are for: the one that --machine names, else the one whose GPUs are here.
#ifndef YUBA_TOOLS_FLAGS_MACHINE_FLAG_H_
#define YUBA_TOOLS_FLAGS_MACHINE_FLAG_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "opsemantics/machine/machine.h"
#include "runtime/cuda/facts.h"

namespace yuba::tools {

// --machine none: plans are for bytes, whatever is here.
inline constexpr char kNoMachine[] = "none";
// What --machine is where the command line does not say: for scripts and tests, which want the same
// plan everywhere.
inline constexpr char kMachineVariable[] = "YUBA_MACHINE";

struct ChosenMachine {
  std::shared_ptr<const Machine> machine;  // null: there is none
  bool found = false;                      // by its GPUs, and nobody named it
  int gpus = 0;                            // where found: how many are here
  std::string why_none;  // GPUs are here, and no machine file is of them: a sentence on what to do
};

// `named` is the value of --machine, "" where it is not there. A user's error where it names no
// machine (FindMachine).
absl::StatusOr<ChosenMachine> ChooseMachine(const std::string& named);

// The machine with these GPUs, all equal; with none of them, or several kinds, there is none.
ChosenMachine MachineWith(const std::vector<cuda::GpuFacts>& gpus);

}  // namespace yuba::tools

#endif  // YUBA_TOOLS_FLAGS_MACHINE_FLAG_H_
