// A second kernel that cuBLASLt computes in the call of a product (program.proto, JointCall): sums
// of an operand over all that the product is summed over, as it has them for gradients of biases;
// GELU, where the call stores what it is of as well; or the product times its slope.
#ifndef YUBA_RUNTIME_CUDA_LIBRARY_CUBLAS_LT_JOINT_H_
#define YUBA_RUNTIME_CUDA_LIBRARY_CUBLAS_LT_JOINT_H_

#include <cstdint>

#include "absl/types/optional.h"
#include "runtime/contraction.h"
#include "runtime/cuda/library/library_kernel.h"

namespace yuba::cuda {

struct LtJoint {
  program::JointCall::Kind kind = program::JointCall::OPERAND_SUMS;
  bool of_a = false;  // sums of the plan's A, m of them next to each other; else of B, n of them
  int64_t first = 0;  // of the second result, elements from the start of its buffer
};

// The second kernel of site.joint, which is not null, as the library has it beside the plan's
// product: nullopt where the library does not. The shape has a result and terms.
absl::optional<LtJoint> JointOf(const LibrarySite& site, const runtime::ProductPlan& plan);

}  // namespace yuba::cuda

#endif  // YUBA_RUNTIME_CUDA_LIBRARY_CUBLAS_LT_JOINT_H_
