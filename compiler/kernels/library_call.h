// Which definitions a tuned library computes, judged by structure, and how it is to be called.
#ifndef YUBA_COMPILER_KERNELS_LIBRARY_CALL_H_
#define YUBA_COMPILER_KERNELS_LIBRARY_CALL_H_

#include "absl/types/optional.h"
#include "opsemantics/definition/definition.h"
#include "runtime/program/program.pb.h"

namespace yuba::kernels {

// The call for a contraction or a convolution of f32 tensors; nullopt for everything else.
// `convolutions`: whether the target's library has them.
absl::optional<program::LibraryCall> LibraryCallFor(const Definition& definition,
                                                    bool convolutions);

}  // namespace yuba::kernels

#endif  // YUBA_COMPILER_KERNELS_LIBRARY_CALL_H_
