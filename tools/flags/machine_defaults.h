// What a machine decides where no flag says otherwise: the objective, replicas, the limit on
// memory.
#ifndef YUBA_TOOLS_FLAGS_MACHINE_DEFAULTS_H_
#define YUBA_TOOLS_FLAGS_MACHINE_DEFAULTS_H_

#include <cstdint>
#include <memory>

#include "opsemantics/machine/machine.h"
#include "search/search_options.h"

namespace yuba::tools {

// The bytes that a program has on each device: its memory without what driver and libraries take.
int64_t RoomOn(const Machine& machine);

// The least time on the machine, with replicas where they pay, within the memory of its devices.
// Nothing where it is null. Only for the default search: baselines and the recursion count bytes,
// and know neither replicas of choice nor limits.
void FollowMachine(const std::shared_ptr<const Machine>& machine, search::SearchOptions& options);

}  // namespace yuba::tools

#endif  // YUBA_TOOLS_FLAGS_MACHINE_DEFAULTS_H_
