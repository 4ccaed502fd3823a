// The post-ops of a library call by loops over its result, where the library itself does not do
// them: a product of several calls, a convolution with gaps, a sum of no terms.
#ifndef YUBA_RUNTIME_HOST_POST_OP_LOOPS_H_
#define YUBA_RUNTIME_HOST_POST_OP_LOOPS_H_

#include <vector>

#include "runtime/contraction.h"
#include "runtime/host/thread_team.h"

namespace yuba::runtime {

// Does shape.post_ops to what the call wrote, f32. `post` has the starts of the buffers of the
// steps' operands. The team's threads share it out.
void RunPostOps(const LibraryShape& shape, const std::vector<const void*>& post, float* result,
                ThreadTeam& team);

}  // namespace yuba::runtime

#endif  // YUBA_RUNTIME_HOST_POST_OP_LOOPS_H_
