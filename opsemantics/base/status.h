// Errors. Abseil 20220623 has absl::Status, but neither macros that pass an error on nor short
// constructors; they are here. Every error that a user can get says the place, the cause and the
// next step. A fault that cannot be reported in order is a check (check.h).
#ifndef YUBA_OPSEMANTICS_BASE_STATUS_H_
#define YUBA_OPSEMANTICS_BASE_STATUS_H_

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"

namespace yuba {

// A user's mistake (exit code 2 of the command). The arguments are concatenated.
template <typename... Args>
absl::Status UserError(const Args&... args) {
  return absl::InvalidArgumentError(absl::StrCat(args...));
}

// A claim that does not hold (exit code 1): a plan that is not of its graph or not legal, a proof
// that does not show its bound, a program that does not compute its graph. In the compiler, whose
// own results must pass, it becomes an internal error (RunPhases).
template <typename... Args>
absl::Status ProofError(const Args&... args) {
  return absl::FailedPreconditionError(absl::StrCat(args...));
}

// A failed run, or a fault of Yuba that can still be reported in order (exit code 3).
template <typename... Args>
absl::Status InternalError(const Args&... args) {
  return absl::InternalError(absl::StrCat(args...));
}

// `status` with "context: " in front of its message; an ok status as it is.
absl::Status Annotate(const absl::Status& status, absl::string_view context);

}  // namespace yuba

// Leaves the function with the error, where `expression` is one.
#define YUBA_RETURN_IF_ERROR(expression)                                                   \
  do {                                                                                     \
    if (absl::Status yuba_status_ = (expression); !yuba_status_.ok()) return yuba_status_; \
  } while (false)

// YUBA_ASSIGN_OR_RETURN(const int file, OpenToRead(path)): the value, or leaves with the error.
#define YUBA_STATUS_CONCAT_(a, b) a##b
#define YUBA_STATUS_NAME_(a, b) YUBA_STATUS_CONCAT_(a, b)
#define YUBA_ASSIGN_OR_RETURN(left, expression) \
  YUBA_ASSIGN_OR_RETURN_(YUBA_STATUS_NAME_(yuba_or_, __LINE__), left, expression)
#define YUBA_ASSIGN_OR_RETURN_(name, left, expression) \
  auto name = (expression);                            \
  if (!name.ok()) return name.status();                \
  left = *std::move(name)

#endif  // YUBA_OPSEMANTICS_BASE_STATUS_H_
