// The static proof that slots do not overlap.
#ifndef YUBA_COMPILER_VERIFY_CHECK_MEMORY_H_
#define YUBA_COMPILER_VERIFY_CHECK_MEMORY_H_

#include "absl/status/status.h"
#include "runtime/program/program.pb.h"

namespace yuba::compiler {

// After PlanMemory: every slot holds every device's box, lies in the arena and shares bytes with no
// other slot that is live at the same time; every use lies within a life.
absl::Status CheckMemory(const program::Program& program);

}  // namespace yuba::compiler

#endif  // YUBA_COMPILER_VERIFY_CHECK_MEMORY_H_
