// How results fall into parts that are added up later.
#ifndef YUBA_COMPILER_VERIFY_PARTS_H_
#define YUBA_COMPILER_VERIFY_PARTS_H_

#include <vector>

#include "absl/status/statusor.h"
#include "opsemantics/base/box.h"
#include "opsemantics/sharding/sharding.h"
#include "runtime/program/program.pb.h"

namespace yuba::compiler {

// By device: its number among those that compute with terms of sums, empty if none does. Each has a
// part of its own: none is left out as the copy of another's.
absl::StatusOr<std::vector<int64_t>> GroupNumbers(const program::Program& program, const Mesh& mesh,
                                                  const program::Kernel& kernel);

// Whether such results can be added up; what is not reduced is a sum of one term.
absl::Status CheckSum(program::Reducer reducer);

// By device: `from` is what the exchange's producer made, and parts have the numbers of its shares
// of the reduction.
absl::Status CheckParts(const program::Program& program, const Mesh& mesh,
                        const program::Exchange& exchange, const program::Kernel& producer,
                        const std::vector<Box>& from);

}  // namespace yuba::compiler

#endif  // YUBA_COMPILER_VERIFY_PARTS_H_
