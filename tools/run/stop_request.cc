#include "tools/run/stop_request.h"

#include "opsemantics/base/status.h"
#include "tools/interrupt.h"

namespace yuba::tools {

absl::Status StopRequest::Look() {
  if (came_) return absl::OkStatus();
  came_ = InterruptNote::Came();
  if (job_ == nullptr) return absl::OkStatus();
  YUBA_ASSIGN_OR_RETURN(came_, job_->AnyOf(came_));
  return absl::OkStatus();
}

}  // namespace yuba::tools
