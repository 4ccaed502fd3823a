// What a program says of products that are computed together with a second kernel (program.proto,
// JointCall).
#ifndef YUBA_RUNTIME_PROGRAM_CHECK_JOINT_CALLS_H_
#define YUBA_RUNTIME_PROGRAM_CHECK_JOINT_CALLS_H_

#include "absl/status/status.h"
#include "runtime/program/program.pb.h"

namespace yuba::program {

// Whether each is of two kernels of one definition, or of a product with post-ops, next to each
// other, for which nothing else stands; and the second one reads what the product reads or makes,
// over the same boxes, and runs along the product's indices, over the same ranges. InvalidArgument
// where not. Instructions and attention are sound by themselves.
absl::Status CheckJointCalls(const Program& program);

// The first of its two instructions; the other one is the next.
inline int FirstOf(const JointCall& call) {
  return call.product() < call.other() ? call.product() : call.other();
}

}  // namespace yuba::program

#endif  // YUBA_RUNTIME_PROGRAM_CHECK_JOINT_CALLS_H_
