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
// program's initial values once the devices have them. With a job this process runs one device of
// the program, all ranks call it with the same flags, and rank 0 writes the files; null: it has all
// devices.
absl::Status RunProgram(const std::shared_ptr<runtime::LoadedProgram>& program,
                        const RunFlags& flags, RunFiles files, runtime::Job* job);

}  // namespace yuba::tools

#endif  // YUBA_TOOLS_RUN_RUN_COMMAND_H_
