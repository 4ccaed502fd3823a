// What Abseil 20220623 does not have: macros that pass an error on, and one constructor for the
// usual error. Every error a user can get says place, cause and next step.
#ifndef YUBA_OPSEMANTICS_BASE_STATUS_H_
#define YUBA_OPSEMANTICS_BASE_STATUS_H_

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"

namespace yuba {

// An error for a user's mistake; the arguments are concatenated (exit code 2 of the command).
template <typename... Args>
absl::Status UserError(const Args&... args) {
  return absl::InvalidArgumentError(absl::StrCat(args...));
}

// A failed run or a fault of ours that can still be reported in order (exit code 3).
template <typename... Args>
absl::Status InternalError(const Args&... args) {
  return absl::InternalError(absl::StrCat(args...));
}

// `status` with "context: " in front of its message.
absl::Status Annotate(const absl::Status& status, absl::string_view context);

}  // namespace yuba

#define YUBA_RETURN_IF_ERROR(expression)                                                   \
  do {                                                                                     \
    if (absl::Status yuba_status_ = (expression); !yuba_status_.ok()) return yuba_status_; \
  } while (false)

#define YUBA_STATUS_CONCAT_(a, b) a##b
#define YUBA_STATUS_NAME_(a, b) YUBA_STATUS_CONCAT_(a, b)
#define YUBA_ASSIGN_OR_RETURN(left, expression) \
  YUBA_ASSIGN_OR_RETURN_(YUBA_STATUS_NAME_(yuba_or_, __LINE__), left, expression)
#define YUBA_ASSIGN_OR_RETURN_(name, left, expression) \
  auto name = (expression);                            \
  if (!name.ok()) return name.status();                \
  left = *std::move(name)

#endif  // YUBA_OPSEMANTICS_BASE_STATUS_H_
