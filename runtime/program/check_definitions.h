// What must hold between a function's definitions and the tensors of a kernel that calls it: the
// part of well-formedness (well_formed.h) that knows what a cluster is. Each definition reads what
// the kernel is given or what earlier definitions computed, and each result and internal tensor is
// computed by one definition.
//
// Example: of m = 0.9*m + g and w = w - 0.1*m in one function the second may read result 0, which
// the first computes. The other way round the function is refused: "it reads a tensor that is not
// computed yet".
#ifndef YUBA_RUNTIME_PROGRAM_CHECK_DEFINITIONS_H_
#define YUBA_RUNTIME_PROGRAM_CHECK_DEFINITIONS_H_

#include "absl/status/status.h"
#include "runtime/program/program.pb.h"

namespace yuba::program {

// `function` is the kernel's. Errors are the user's (InvalidArgument) and name the definition where
// there are several.
absl::Status CheckDefinitions(const Function& function, const Kernel& kernel);

}  // namespace yuba::program

#endif  // YUBA_RUNTIME_PROGRAM_CHECK_DEFINITIONS_H_
