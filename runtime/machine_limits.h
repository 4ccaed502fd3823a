// Whether this machine, and what limits the process there, has what a session needs: asked before
// the session runs, because libraries and the system end a process that gets no memory or no
// thread.
#ifndef YUBA_RUNTIME_MACHINE_LIMITS_H_
#define YUBA_RUNTIME_MACHINE_LIMITS_H_

#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "runtime/available_memory.h"

namespace yuba::runtime {

// ResourceExhausted where `devices` arenas of `arena_bytes` are more than `available`: what is
// needed, what is there and what limits it.
absl::Status CheckArenas(int devices, int64_t arena_bytes, const AvailableMemory& available);

// ResourceExhausted where the system does not give the threads of a step now. `devices` run at once
// with `threads_per_device` each; with `library` a library has as many of its own.
absl::Status CheckThreads(int devices, int threads_per_device, bool library);

// The processors that this process may run on, by their numbers on the machine, which may have
// more: launchers bind processes to some of them. At least one.
std::vector<int> OwnProcessors();

}  // namespace yuba::runtime

#endif  // YUBA_RUNTIME_MACHINE_LIMITS_H_
