// Post-ops of library calls (program.proto, PostOp), for validator and back ends.
#ifndef YUBA_RUNTIME_PROGRAM_POST_OPS_H_
#define YUBA_RUNTIME_PROGRAM_POST_OPS_H_

#include <vector>

#include "absl/status/status.h"
#include "opsemantics/base/box.h"
#include "runtime/program/program.h"

namespace yuba::runtime {

inline bool HasOperand(const program::PostOp& step) {
  return step.kind() <= program::PostOp::MULTIPLY;
}

// [index], of `count` indices of a kernel: the flat dimension of the result that it runs along, or
// -1.
std::vector<int> ResultDims(const program::LibraryCall& call, int count);

// Checks what can be seen of the call alone: its kind and type have post-ops, and each step is one.
absl::Status ValidatePostOps(const program::LibraryCall& call);

// Checks that, on one device, the result and the operands of the steps have the call's type, and
// that the operands hold what `written`, the box of the result that the call writes, needs of them.
absl::Status ValidatePostOperands(const LoadedProgram& program, const program::Kernel& kernel,
                                  const Box& written, int device);

}  // namespace yuba::runtime

#endif  // YUBA_RUNTIME_PROGRAM_POST_OPS_H_
