// Which definitions a tuned library computes, and how it is to be called. The structure of a
// definition decides (structure.h and convolution.h of opsemantics/regions), never an operator's
// name: a product of matrices that a user describes is a library call too.
//
// Example: y[i, j] = sum(k) x[i, k] * w[k, j] in f32 is a contraction with rows {i}, columns {j},
// inner {k} and no batch; for each index the call says along which flat dimension of x, w and y it
// runs (i: 0, -1, 0).
#ifndef YUBA_COMPILER_KERNELS_LIBRARY_CALL_H_
#define YUBA_COMPILER_KERNELS_LIBRARY_CALL_H_

#include "absl/types/optional.h"
#include "opsemantics/definition/definition.h"
#include "runtime/program/program.pb.h"

namespace yuba::kernels {

// What the library of a target has, beside contractions of f32, f16 and bf16.
struct LibraryFeatures {
  bool convolutions = false;  // and their gradients, of the same types
  bool doubles = false;       // both of f64 too
  bool tf32 = false;          // it may round operands of f32 to TF32, and is to
};

// The call for a contraction, a convolution or a gradient of one that the library has; nullopt for
// everything else, also where there are more than three windows. Ranges and addresses are no part
// of it: the runtime takes them from the kernel instruction.
absl::optional<program::LibraryCall> LibraryCallFor(const Definition& definition,
                                                    const LibraryFeatures& features);

}  // namespace yuba::kernels

#endif  // YUBA_COMPILER_KERNELS_LIBRARY_CALL_H_
