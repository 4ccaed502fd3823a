// How many blocks of threads a launch of generated code has on a GPU (ThreadLaunch in
// program.proto).
//
// Example: over indices with ranges of 10, 6 and 50 values on a device, blocks of 256 points are
// ceil(3000 / 256) = 12; with the sides 1, 0 and 128 they are 10 * ceil(6 * 50 / 128) = 30.
#ifndef YUBA_RUNTIME_PROGRAM_THREAD_LAUNCH_H_
#define YUBA_RUNTIME_PROGRAM_THREAD_LAUNCH_H_

#include <cstdint>

#include "opsemantics/base/mesh.h"
#include "runtime/program/program.pb.h"

namespace yuba::program {

// How many points of `launch`, of the function that `kernel` calls, `device` computes.
int64_t PointsOf(const Mesh& mesh, const Kernel& kernel, const ThreadLaunch& launch, int device);

// How many blocks it starts for them, of all parts.
int64_t BlocksOf(const Mesh& mesh, const Kernel& kernel, const ThreadLaunch& launch, int device);

}  // namespace yuba::program

#endif  // YUBA_RUNTIME_PROGRAM_THREAD_LAUNCH_H_
