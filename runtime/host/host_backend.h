#ifndef YUBA_RUNTIME_HOST_HOST_BACKEND_H_
#define YUBA_RUNTIME_HOST_HOST_BACKEND_H_

#include "runtime/executor.h"

namespace yuba::runtime {

constexpr int kMostVirtualDevices = 1024;  // threads of one process

// Virtual devices of this process, one for each device of the program's mesh.
absl::Status OpenHostBackend(const LoadedProgram& program, const ArenaLayout& layout, Fleet& fleet);

}  // namespace yuba::runtime

#endif  // YUBA_RUNTIME_HOST_HOST_BACKEND_H_
