#include "tools/flags/machine_flag.h"

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "absl/strings/str_cat.h"
#include "opsemantics/base/check.h"
#include "opsemantics/base/status.h"
#include "opsemantics/machine/find_machine.h"

namespace yuba::tools {

ChosenMachine MachineWith(const std::vector<cuda::GpuFacts>& gpus) {
  ChosenMachine chosen;
  if (gpus.empty()) return chosen;
  const cuda::GpuFacts& first = gpus[0];
  const bool equal = std::all_of(gpus.begin(), gpus.end(), [&](const cuda::GpuFacts& gpu) {
    return gpu.name == first.name && gpu.memory == first.memory;
  });
  const std::string name = equal ? MachineOfGpu(first.name, first.memory) : "";
  if (name.empty()) {
    chosen.why_none = absl::StrCat(
        equal ? absl::StrCat("no machine file is of ", first.name)
              : absl::StrCat("the GPUs here differ, ", first.name, " is one of them"),
        ": yuba calibrate -o FILE.json measures this machine, --machine FILE.json names it");
    return chosen;
  }
  absl::StatusOr<Machine> machine = FindMachine(name);
  YUBA_CHECK(machine.ok()) << machine.status();
  chosen.machine = std::make_shared<const Machine>(*std::move(machine));
  chosen.found = true;
  chosen.gpus = static_cast<int>(gpus.size());
  return chosen;
}

absl::StatusOr<ChosenMachine> ChooseMachine(const std::string& named) {
  const char* variable = std::getenv(kMachineVariable);
  const std::string asked = !named.empty() ? named : variable != nullptr ? variable : "";
  if (asked == kNoMachine) return ChosenMachine();
  if (asked.empty()) {
    const absl::StatusOr<std::vector<cuda::GpuFacts>> gpus = cuda::FindGpus();
    return gpus.ok() ? MachineWith(*gpus) : ChosenMachine();
  }
  absl::StatusOr<Machine> machine = FindMachine(asked);
  if (!machine.ok()) {
    return Annotate(machine.status(), named.empty() ? kMachineVariable : "--machine");
  }
  ChosenMachine chosen;
  chosen.machine = std::make_shared<const Machine>(*std::move(machine));
  return chosen;
}

}  // namespace yuba::tools
