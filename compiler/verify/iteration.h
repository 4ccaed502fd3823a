// Which points of a kernel's iteration space each device computes.
#ifndef YUBA_COMPILER_VERIFY_ITERATION_H_
#define YUBA_COMPILER_VERIFY_ITERATION_H_

#include <vector>

#include "absl/status/status.h"
#include "opsemantics/base/box.h"
#include "opsemantics/sharding/sharding.h"
#include "runtime/program/program.pb.h"

namespace yuba::compiler {

using Ranges = std::vector<Interval>;

// Of the indices of a reduction, or of all others.
Ranges RangesOn(const program::Program& program, const Mesh& mesh, const program::Kernel& kernel,
                int device, bool reduction);
Ranges WholeReduction(const program::Program& program, const program::Kernel& kernel);

// The devices' pieces fill the iteration space and overlap only where they are equal.
absl::Status CheckTiling(const program::Program& program, const Mesh& mesh,
                         const program::Kernel& kernel);

// No two devices run over the same points; for kernels whose pieces are tiled (CheckTiling).
absl::Status CheckDistinct(const Mesh& mesh, const program::Kernel& kernel);

}  // namespace yuba::compiler

#endif  // YUBA_COMPILER_VERIFY_ITERATION_H_
