// On which back end library_test runs its calls: the host's, or fake GPUs (tests/runtime/cuda).
#ifndef YUBA_TESTS_RUNTIME_PROGRAM_LIBRARY_BACKEND_H_
#define YUBA_TESTS_RUNTIME_PROGRAM_LIBRARY_BACKEND_H_

#include "runtime/session.h"

namespace yuba::runtime {

RunOptions LibraryOptions();

// Whether the back end's libraries have every call that the test makes up; else some are
// Unimplemented, which generated code beside them would compute.
bool HasAllCalls();

// Whether its calls have post-ops in this type.
bool HasPostOpsOf(ElementType type);

}  // namespace yuba::runtime

#endif  // YUBA_TESTS_RUNTIME_PROGRAM_LIBRARY_BACKEND_H_
