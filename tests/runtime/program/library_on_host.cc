#include "tests/runtime/program/library_backend.h"

namespace yuba::runtime {

RunOptions LibraryOptions() { return {}; }

bool HasAllCalls() { return true; }

bool HasPostOpsOf(ElementType type) { return type == ElementType::kF32; }

}  // namespace yuba::runtime
