// The answer of a proof that fails.
#ifndef YUBA_COMPILER_VERIFY_BROKEN_H_
#define YUBA_COMPILER_VERIFY_BROKEN_H_

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

namespace yuba::compiler {

template <typename... Args>
absl::Status Broken(const Args&... args) {
  return absl::FailedPreconditionError(absl::StrCat(args...));
}

}  // namespace yuba::compiler

#endif  // YUBA_COMPILER_VERIFY_BROKEN_H_
