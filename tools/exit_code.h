// The exit codes of all commands: 0 done, 1 a negative answer, 2 bad input or usage, 3 an internal
// fault, a failed run, too little memory or too few threads, or no answer in the time allowed, 130
// interrupted before there was anything to show: a search that Ctrl-C ends with a plan has done
// what was asked for, and exits with 0. An action says which by the code of its status.
#ifndef YUBA_TOOLS_EXIT_CODE_H_
#define YUBA_TOOLS_EXIT_CODE_H_

#include "absl/status/status.h"

namespace yuba::tools {

inline int ExitCode(const absl::Status& status) {
  switch (status.code()) {
    case absl::StatusCode::kOk: return 0;
    case absl::StatusCode::kFailedPrecondition: return 1;
    case absl::StatusCode::kInternal:
    case absl::StatusCode::kUnknown:
    case absl::StatusCode::kAborted:
    case absl::StatusCode::kResourceExhausted:
    case absl::StatusCode::kDeadlineExceeded: return 3;
    case absl::StatusCode::kCancelled: return 130;
    default: return 2;
  }
}

}  // namespace yuba::tools

#endif  // YUBA_TOOLS_EXIT_CODE_H_
