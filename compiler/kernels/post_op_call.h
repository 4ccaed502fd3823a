// Library calls of clusters: a product or a convolution, and maps that are post-ops of it.
#ifndef YUBA_COMPILER_KERNELS_POST_OP_CALL_H_
#define YUBA_COMPILER_KERNELS_POST_OP_CALL_H_

#include <vector>

#include "absl/types/optional.h"
#include "compiler/kernels/library_call.h"
#include "compiler/kernels/targets.h"
#include "opsemantics/definition/definition.h"
#include "runtime/program/program.pb.h"

namespace yuba::kernels {

// The steps that the map does to operand `value`; nullopt where no library of the target does such
// steps on elements of this type: steps of a call are in the accumulator's type, so that the map's
// own must be that, or the target's libraries may round once where maps round each step. `slopes`:
// whether the slope of an activation is one.
absl::optional<std::vector<PostOp>> LibrarySteps(const TargetFacts& target, const Definition& map,
                                                 int value, bool slopes);

// The call for definitions of one function of which each but the first is a map of what the one
// before it computes; nullopt where the target's library has none. The roles of the result are
// along the dimensions of the last definition's result.
//
// Example: c[i, j] = sum(k) x[i, k] * w[k, j] and y[i, j] = c[i, j] + b[j] of a kernel with the
// operands x, w and b are a contraction with the post-op ADD of operand 2 with indices {1}.
absl::optional<program::LibraryCall> CallWithPostOps(const std::vector<Definition>& definitions,
                                                     const program::Function& function,
                                                     const TargetFacts& target,
                                                     const LibraryFeatures& features);

}  // namespace yuba::kernels

#endif  // YUBA_COMPILER_KERNELS_POST_OP_CALL_H_
