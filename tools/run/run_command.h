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
// program's initial values once the devices have them. Where a launcher has started several copies
// of the process it says so, and copies other than the first write no checkpoints (launcher.h).
absl::Status RunProgram(const std::shared_ptr<runtime::LoadedProgram>& program, RunFlags flags,
                        RunFiles files);

}  // namespace yuba::tools

#endif  // YUBA_TOOLS_RUN_RUN_COMMAND_H_
