#include "tools/flags/machine_defaults.h"

namespace yuba::tools {

int64_t RoomOn(const Machine& machine) { return machine.device.memory - machine.device.reserved; }

void FollowMachine(const std::shared_ptr<const Machine>& machine, search::SearchOptions& options) {
  if (machine == nullptr) return;
  options.objective = search::Objective(search::ObjectiveKind::kTime, machine);
  options.replicate = search::Replicate::kAuto;
  options.memory_limit = RoomOn(*machine);
}

}  // namespace yuba::tools
