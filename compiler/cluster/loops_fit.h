// Whether a definition's loops allow others between them: in its loop plan those over the first
// output indices stand outside of everything else.
#ifndef YUBA_COMPILER_CLUSTER_LOOPS_FIT_H_
#define YUBA_COMPILER_CLUSTER_LOOPS_FIT_H_

#include "opsemantics/definition/definition.h"

namespace yuba::compiler {

// Whether in both arithmetics the loops over the first `shared` indices are the outermost ones, and
// inside of them elements are computed one by one (no rows of accumulators in memory). A kernel may
// have more definitions inside of these loops then (kernels/loop_builder.h).
bool LoopsFit(const Definition& definition, int shared);

}  // namespace yuba::compiler

#endif  // YUBA_COMPILER_CLUSTER_LOOPS_FIT_H_
