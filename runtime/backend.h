// The devices that a session runs on, by the name of a back end.
#ifndef YUBA_RUNTIME_BACKEND_H_
#define YUBA_RUNTIME_BACKEND_H_

#include <string>

#include "absl/status/status.h"
#include "runtime/executor.h"

namespace yuba::runtime {

// Devices, prepared, and their communicator. Unavailable where this machine or this build has no
// such back end, a user's error where the name is unknown.
absl::Status OpenBackend(const std::string& name, const LoadedProgram& program,
                         const ArenaLayout& layout, Fleet& fleet);

// "host, cuda"
std::string BackendNames();

}  // namespace yuba::runtime

#endif  // YUBA_RUNTIME_BACKEND_H_
