// A small program timed as sessions run it.
#ifndef YUBA_TOOLS_CALIBRATE_TIME_PROGRAM_H_
#define YUBA_TOOLS_CALIBRATE_TIME_PROGRAM_H_

#include <string>

#include "absl/status/statusor.h"
#include "runtime/program/program.pb.h"
#include "tools/calibrate/repeats.h"

namespace yuba::tools {

// Of one run of the program's instructions, on made-up values. A step runs them as often as it
// takes to be long beside what a step takes besides. The program has one entry, and inputs without
// conditions on their values. Where there are more virtual devices than processors it is what the
// processors work, shared out over them: while one device waits another one computes, so that in
// longer programs nothing of the waiting is left.
absl::StatusOr<Timing> TimeProgram(const program::Program& program, const std::string& backend);

}  // namespace yuba::tools

#endif  // YUBA_TOOLS_CALIBRATE_TIME_PROGRAM_H_
