// Whether a run is to end after its step: a signal came (interrupt.h), to this process or, where
// there are ranks, to any of them. All ranks look at the same places and so end after the same
// step.
#ifndef YUBA_TOOLS_RUN_STOP_REQUEST_H_
#define YUBA_TOOLS_RUN_STOP_REQUEST_H_

#include "absl/status/status.h"
#include "runtime/ranks/job.h"

namespace yuba::tools {

class StopRequest {
 public:
  // job: null where this process runs alone.
  explicit StopRequest(runtime::Job* job) : job_(job) {}

  // Asks the other ranks. The job's end is its error.
  absl::Status Look();
  // Whether one had come at the last look.
  bool came() const { return came_; }

 private:
  runtime::Job* const job_;
  bool came_ = false;
};

}  // namespace yuba::tools

#endif  // YUBA_TOOLS_RUN_STOP_REQUEST_H_
