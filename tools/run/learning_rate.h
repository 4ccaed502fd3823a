// The learning rate of a run: a schedule's, or the plan's.
#ifndef YUBA_TOOLS_RUN_LEARNING_RATE_H_
#define YUBA_TOOLS_RUN_LEARNING_RATE_H_

#include <cstdint>

#include "absl/status/status.h"
#include "absl/types/optional.h"
#include "runtime/session.h"
#include "tools/run/means.h"
#include "tools/run/run_files.h"

namespace yuba::tools {

// Where no schedule sets the rate it is the plan's: notes it among the facts of the run. A note on
// stderr where a checkpoint's schedule takes the place of another rate of the plan.
absl::Status KeepRate(runtime::Session& session, const RunFlags& flags, RunFiles& files);

// The learning rate of each step, put in place where it is another one than before.
class LearningRate {
 public:
  explicit LearningRate(const RunFiles& files) : files_(files) {}

  // Also adds the rate to `numbers`.
  absl::Status Set(runtime::Session& session, int64_t step, Numbers& numbers);

 private:
  const RunFiles& files_;
  absl::optional<double> set_;
};

}  // namespace yuba::tools

#endif  // YUBA_TOOLS_RUN_LEARNING_RATE_H_
