// The back end "host": virtual devices of one process, or a process for each of them, which need
// nothing but a processor that the program's code runs on. Kernels run in the thread that calls
// them; exchanges read the other devices' memory, or go through the job's engine.
#ifndef YUBA_RUNTIME_HOST_HOST_BACKEND_H_
#define YUBA_RUNTIME_HOST_HOST_BACKEND_H_

#include "runtime/executor.h"

namespace yuba::runtime {

constexpr int kMostVirtualDevices = 1024;  // each is a thread of the process

// Fills `fleet` with one virtual device for each device of the program's mesh, or where there is a
// job with that of its rank alone, and what does their exchanges. Each device has
// `threads_per_device` threads, at least 1. Errors: a mesh that is too large, code for another
// processor (KernelObject::Load), no memory, no oneDNN where the program calls it.
absl::Status OpenHostBackend(const LoadedProgram& program, const ArenaLayout& layout,
                             int threads_per_device, Job* job, Fleet& fleet);

}  // namespace yuba::runtime

#endif  // YUBA_RUNTIME_HOST_HOST_BACKEND_H_
