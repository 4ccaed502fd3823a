// What is known of a kernel's arguments (runtime/program/kernel_abi.h) when its code is generated:
// a program says which boxes its devices have, so what all launches of a function share is a
// constant of its code, or lies at a constant distance from another argument.
//
// Example: z = relu(y) on f32[8, 4], rows cut in two. Both devices run 4 rows from their own first
// one, which is also the origin of what they hold of y and z:
//   slot       0       1       2   3   4       5   6   7   8       9   10  11
//   device 0   0       4       0   4   0       4   0   4   0       4   0   4
//   device 1   4       8       0   4   4       4   0   4   4       4   0   4
//   known      itself  0: +4   0   4   0: +0   4   0   4   0: +0   4   0   4
#ifndef YUBA_COMPILER_KERNELS_THREADS_KNOWN_ARGUMENTS_H_
#define YUBA_COMPILER_KERNELS_THREADS_KNOWN_ARGUMENTS_H_

#include <cstdint>
#include <vector>

#include "compiler/kernels/named_kernel.h"
#include "runtime/program/program.pb.h"

namespace yuba::kernels {

// [function], over all kernels that call it and all devices that compute something there. Programs
// for more devices than `most_devices` are not looked at: nothing is known then.
std::vector<KnownArguments> KnownArgumentsOf(const program::Program& program,
                                             int64_t most_devices = 256);

}  // namespace yuba::kernels

#endif  // YUBA_COMPILER_KERNELS_THREADS_KNOWN_ARGUMENTS_H_
