// What kernels write: which output indices the devices compute, and whether all of the reduction.
//
// Example: y[i, j] = sum(k) x[i, k] * w[k, j] on 4 devices that cut i over a and k over b. Devices
// 0 and 1 write one box and compute the same i and j, so their boxes may be equal; each computes
// half of the reduction, so results are partial.
#ifndef YUBA_COMPILER_VERIFY_OUTPUTS_H_
#define YUBA_COMPILER_VERIFY_OUTPUTS_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "opsemantics/base/box.h"
#include "opsemantics/base/mesh.h"
#include "runtime/program/program.pb.h"

namespace yuba::compiler {

// What decides which points the devices compute and where they write them. Kernels in which it is
// equal, as those of repeated layers, have one proof.
std::string PointsOf(const program::Kernel& kernel);

// FailedPrecondition where devices that write one box compute different output indices, or devices
// that compute different ones write the same elements. results: [device], what it writes; `name` of
// the buffer, for the error.
absl::Status CheckOutputs(const program::Program& program, const Mesh& mesh,
                          const program::Kernel& kernel, const std::vector<Box>& results,
                          const std::string& name);

// Whether some device computes only a part of the reduction.
bool IsPartOfReduction(const program::Program& program, const Mesh& mesh,
                       const program::Kernel& kernel);

}  // namespace yuba::compiler

#endif  // YUBA_COMPILER_VERIFY_OUTPUTS_H_
