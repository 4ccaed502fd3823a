// A library call on f16 or bf16 by one on f32: operands go through f32 copies in the workspace, and
// so does the result. For routines that the library has for f32 alone and that do far more work
// than there are elements: convolutions and their gradients. (Contractions copy tile by tile
// instead.)
#ifndef YUBA_RUNTIME_HOST_WIDENED_CALL_H_
#define YUBA_RUNTIME_HOST_WIDENED_CALL_H_

#include <cstdint>
#include <memory>

#include "runtime/contraction.h"
#include "runtime/host/onednn.h"
#include "runtime/host/thread_team.h"

namespace yuba::runtime {

// Elements of the buffers of a call, as `device` has them.
struct CallExtents {
  int64_t left = 0, right = 0, result = 0;
};

// `call` takes f32 buffers that lie as those of `shape`, whose type is a small float; the result is
// rounded to nearest, ties to even, or stays f32 where the shape's result is. Right operands that
// `call` keeps are not widened again. `team` outlives the kernel and runs nothing else meanwhile.
std::unique_ptr<LibraryKernel> Widened(std::unique_ptr<LibraryKernel> call,
                                       const LibraryShape& shape, const CallExtents& extents,
                                       ThreadTeam& team);

}  // namespace yuba::runtime

#endif  // YUBA_RUNTIME_HOST_WIDENED_CALL_H_
