// The phase `spmd`: which nodes are one kernel, on which their order depends, and the program of
// all devices.
#ifndef YUBA_COMPILER_MAKE_PROGRAM_H_
#define YUBA_COMPILER_MAKE_PROGRAM_H_

#include "absl/status/status.h"
#include "compiler/compilation.h"

namespace yuba::compiler {

// Makes `c.program` of the model and its plan, which must be legal and of the model's graph, and of
// `c.layouts`. On GPUs nodes of both move first, so that more of them can be one kernel or one call
// of attention; where the plan has a limit on memory, not if the program would exceed it then.
// Functions have no code yet, and buffers no place.
//
// Example: the plan of y = relu(x w + b) on a GPU becomes one kernel, a product with two post-ops;
// the copies of w that the plan has do not stand between them, where they move nothing.
absl::Status MakeProgram(Compilation& c);

}  // namespace yuba::compiler

#endif  // YUBA_COMPILER_MAKE_PROGRAM_H_
