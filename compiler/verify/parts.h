// The rules for partials: results over a part of a reduction, which an exchange combines later or a
// kernel reads unreduced. What they have in common is that each partial must count exactly once.
//
// Example: k in 0..6 is cut over a; the devices of a=0 write partial 0, those of a=1 partial 1. An
// exchange that combines 2 partials must number them so; a device of a=1 numbered 0 is an error.
#ifndef YUBA_COMPILER_VERIFY_PARTS_H_
#define YUBA_COMPILER_VERIFY_PARTS_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "opsemantics/base/box.h"
#include "opsemantics/sharding/sharding.h"
#include "runtime/program/program.pb.h"

namespace yuba::compiler {

// For a kernel that reads unreduced partials (one of its indices numbers groups of devices):
// [device] the number of its group. Empty for other kernels. An error where two indices number
// groups, where a device is in several, where two devices compute the same points (their partials
// would count twice), or where the kernel's reducer is not a sum.
absl::StatusOr<std::vector<int64_t>> GroupNumbers(const program::Program& program, const Mesh& mesh,
                                                  const program::Kernel& kernel);

// Whether partials of this reducer may be added up: SUM, or NONE, a sum of one term.
absl::Status CheckSum(program::Reducer reducer);

// Whether a reduction takes each partial of `producer`, the kernel that wrote its source, exactly
// once: on each device the box `from` ([device]) is what the producer wrote there, and devices have
// equal partial numbers exactly where they have equal ranges of the reduction indices.
absl::Status CheckParts(const program::Program& program, const Mesh& mesh,
                        const program::Exchange& exchange, const program::Kernel& producer,
                        const std::vector<Box>& from);
// All that CheckParts looks at, of one program, where `from` is as the exchange says: for those who
// keep what was proved.
std::string PartsOf(const program::Exchange& exchange, const program::Kernel& producer);

}  // namespace yuba::compiler

#endif  // YUBA_COMPILER_VERIFY_PARTS_H_
