// The ranks of a launch from one start to their end, as far as their milestones tell.
#ifndef YUBA_TOOLS_LAUNCH_ATTEMPT_H_
#define YUBA_TOOLS_LAUNCH_ATTEMPT_H_

#include <cstdint>
#include <vector>

#include "absl/types/optional.h"
#include "opsemantics/base/clock.h"
#include "tools/run/milestones.h"

namespace yuba::tools {

struct Attempt {
  Clock::time_point started = Clock::now();
  int64_t to_run = 0;  // steps in all; 0: not told yet
  absl::optional<Milestone> loaded, first_step, last_step, checkpoint;

  void Note(const Milestone& milestone) {
    switch (milestone.what) {
      case Reached::kToRun: to_run = milestone.step; break;
      case Reached::kLoaded: loaded = milestone; break;
      case Reached::kCheckpoint: checkpoint = milestone; break;
      case Reached::kStep:
        if (!first_step.has_value()) first_step = milestone;
        last_step = milestone;
    }
  }

  // The step that it went on behind, or came to.
  int64_t step() const {
    return last_step.has_value() ? last_step->step : loaded.has_value() ? loaded->step : 0;
  }
  // Of the last sign of progress.
  Clock::time_point stepped_at() const { return last_step.has_value() ? last_step->at : started; }
};

}  // namespace yuba::tools

#endif  // YUBA_TOOLS_LAUNCH_ATTEMPT_H_
