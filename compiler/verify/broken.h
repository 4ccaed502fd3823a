// The answer of a proof that fails: a FailedPrecondition. RunPhases makes it an Internal error,
// since a program that the compiler wrote must pass; `yuba verify` reports it as a negative answer.
#ifndef YUBA_COMPILER_VERIFY_BROKEN_H_
#define YUBA_COMPILER_VERIFY_BROKEN_H_

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

namespace yuba::compiler {

// The arguments are written one after the other, as by absl::StrCat.
template <typename... Args>
absl::Status Broken(const Args&... args) {
  return absl::FailedPreconditionError(absl::StrCat(args...));
}

}  // namespace yuba::compiler

#endif  // YUBA_COMPILER_VERIFY_BROKEN_H_
