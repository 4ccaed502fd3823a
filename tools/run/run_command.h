// Running a program from the command line: what `yuba run` and `yuba-run` share. Results go to
// stdout.
#ifndef YUBA_TOOLS_RUN_RUN_COMMAND_H_
#define YUBA_TOOLS_RUN_RUN_COMMAND_H_

#include <cstdint>
#include <memory>

#include "absl/status/status.h"
#include "runtime/session.h"
#include "tools/run/run_files.h"
#include "tools/run/run_flags.h"

namespace yuba::tools {

// Opens a session, sets the values of `files`, runs the steps, prints a line for each, writes and
// checks outputs. Blocks until the last step is done. FailedPrecondition where an output is not
// what was expected, Internal where a step fails or moves other bytes than the plan says. Frees the
// program's initial values once the devices have them.
absl::Status RunProgram(const std::shared_ptr<runtime::LoadedProgram>& program,
                        const RunFlags& flags, RunFiles files);

// How far an output is from the expected tensor.
struct Comparison {
  bool comparable = false;             // the two have one shape and element type
  double difference = 0, largest = 0;  // the largest difference; the largest expected magnitude
  int64_t strange = 0;  // elements that are NaN or infinite in one tensor and not so in the other
  double allowed = 0;   // the most that `difference` may be
  bool ok() const { return comparable && strange == 0 && difference <= allowed; }
};
// Integers must be equal, floats within `tolerance` times the largest expected magnitude.
Comparison Compare(const TensorData& expected, const TensorData& actual, double tolerance);

}  // namespace yuba::tools

#endif  // YUBA_TOOLS_RUN_RUN_COMMAND_H_
