// What the work of a kernel counts: the values of its indices that a device runs over, where
// constraints leave fewer than its part has.
#ifndef YUBA_COMPILER_SPMD_WORK_RANGES_H_
#define YUBA_COMPILER_SPMD_WORK_RANGES_H_

#include <vector>

#include "opsemantics/definition/definition.h"
#include "runtime/program/program.pb.h"

namespace yuba::compiler {

// Adds them to a kernel of this definition alone. ranges: [device][index], its parts.
//
// Example: dx[q] = sum(p, u where 2*p + u == q) dy[p] * f[u] with q in [0, 16) of 32 runs over p in
// [0, 8) of 16, and the kernel gets one range, of p.
void AddWorkRanges(const Mesh& mesh, const Definition& definition,
                   const std::vector<std::vector<Interval>>& ranges, program::Kernel& kernel);

}  // namespace yuba::compiler

#endif  // YUBA_COMPILER_SPMD_WORK_RANGES_H_
