// Which points of a kernel's iteration space each device computes. A point is a value for each
// index of the kernel's function; a device computes a range of each index, so a box of points.
//
// Example: y[i, j] = sum(k) ... with i in 0..8 and k in 0..6 on four devices, i cut over a and k
// over b. The parts are i: [0, 4), [4, 8); k: [0, 3), [3, 6); all four combinations must occur.
#ifndef YUBA_COMPILER_VERIFY_ITERATION_H_
#define YUBA_COMPILER_VERIFY_ITERATION_H_

#include <vector>

#include "absl/status/status.h"
#include "opsemantics/base/box.h"
#include "opsemantics/sharding/sharding.h"
#include "runtime/program/program.pb.h"

namespace yuba::compiler {

using Ranges = std::vector<Interval>;  // one for each index at hand, in the function's order

// [device]: the ranges of the reduction indices, or of all other indices.
std::vector<Ranges> RangesOn(const program::Program& program, const Mesh& mesh,
                             const program::Kernel& kernel, bool reduction);
// The full extents of the reduction indices.
Ranges WholeReduction(const program::Program& program, const program::Kernel& kernel);

// Whether the devices' boxes of points fill the iteration space and overlap only where they are
// equal. An error names the index or the device.
absl::Status CheckTiling(const program::Program& program, const Mesh& mesh,
                         const program::Kernel& kernel);

// Whether no two devices compute the same points. Only for kernels that pass CheckTiling: there,
// ranges that begin alike are equal.
absl::Status CheckDistinct(const Mesh& mesh, const program::Kernel& kernel);

}  // namespace yuba::compiler

#endif  // YUBA_COMPILER_VERIFY_ITERATION_H_
