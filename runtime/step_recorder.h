// A part of a back end that has one: records what a step starts on the devices, and then starts all
// of it by one call, as a CUDA graph does. Only for steps in which the host waits for nothing and
// looks at nothing: what it starts, with which arguments and in which order, is the same in each.
//
//   recorder.Begin();
//   ... Device::Run and Communicator::Advance, which start nothing now ...
//   auto step = recorder.End();
//   (*step)->Start();   // again and again
#ifndef YUBA_RUNTIME_STEP_RECORDER_H_
#define YUBA_RUNTIME_STEP_RECORDER_H_

#include <memory>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace yuba::runtime {

class RecordedStep {
 public:
  virtual ~RecordedStep() = default;

  // Starts all that was recorded and does not wait for it. Every device is idle then, as it is
  // after Device::Synchronize and what reads or writes its arena. Afterwards Synchronize, finished
  // and unfinished are as if its instructions had been started one after the other, and
  // library_calls has counted them.
  virtual absl::Status Start() = 0;
};

class StepRecorder {
 public:
  virtual ~StepRecorder() = default;

  virtual const char* Name() const = 0;  // what it makes of a step, for people: "a CUDA graph"

  // Every device is idle. Until End or Abandon the devices are used by the calling thread alone,
  // and by nothing that waits or allocates.
  virtual absl::Status Begin() = 0;
  // After an error nothing is being recorded any more. The step is freed before the devices are.
  virtual absl::StatusOr<std::unique_ptr<RecordedStep>> End() = 0;
  // Ends the recording and forgets it, where something in it has failed.
  virtual void Abandon() = 0;
};

}  // namespace yuba::runtime

#endif  // YUBA_RUNTIME_STEP_RECORDER_H_
