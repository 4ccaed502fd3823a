// Running a program from the command line: what `yuba run` and `yuba-run` share.
#ifndef YUBA_TOOLS_RUN_RUN_COMMAND_H_
#define YUBA_TOOLS_RUN_RUN_COMMAND_H_

#include <cstdint>
#include <memory>

#include "absl/status/status.h"
#include "runtime/session.h"
#include "tools/run/run_files.h"
#include "tools/run/run_flags.h"

namespace yuba::tools {

// Sets the values of `files`, runs the steps, prints a line for each, writes and checks outputs. A
// failed check is absl::StatusCode::kFailedPrecondition; a step that moves other than the planned
// bytes is kInternal.
absl::Status RunProgram(const std::shared_ptr<runtime::LoadedProgram>& program,
                        const RunFlags& flags, RunFiles files);

// How far a tensor is from what was expected.
struct Comparison {
  bool comparable = false;             // of one shape and element type
  double difference = 0, largest = 0;  // the largest difference; the largest expected magnitude
  int64_t strange = 0;  // elements that are NaN or infinite where the other is not the same
  double allowed = 0;   // `difference` at most
  bool ok() const { return comparable && strange == 0 && difference <= allowed; }
};
// Integers must be equal, floats within `tolerance` times the largest expected magnitude.
Comparison Compare(const HostTensor& expected, const HostTensor& actual, double tolerance);

}  // namespace yuba::tools

#endif  // YUBA_TOOLS_RUN_RUN_COMMAND_H_
