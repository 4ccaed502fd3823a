// Small programs timed as sessions run them.
#ifndef YUBA_TOOLS_CALIBRATE_TIME_PROGRAM_H_
#define YUBA_TOOLS_CALIBRATE_TIME_PROGRAM_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "runtime/program/program.pb.h"
#include "runtime/session.h"
#include "tools/calibrate/repeats.h"

namespace yuba::tools {

// A program that is open and waits for its rounds. A time is of one run of the program's
// instructions, on made-up values. A step runs them as often as it takes to be long beside what a
// step takes besides. The program has one entry, and inputs without conditions on their values.
// Where there are more virtual devices than processors it is what the processors work, shared out
// over them: while one device waits another one computes, so that in longer programs nothing of the
// waiting is left.
class TimedProgram {
 public:
  // Errors are those of sessions.
  static absl::StatusOr<TimedProgram> Open(const program::Program& program,
                                           const std::string& backend);

  // Seconds of one run, by TimeRound.
  absl::StatusOr<double> Round() const;

 private:
  TimedProgram() = default;
  absl::Status Repeat(program::Program program, const std::string& backend, int times);

  std::unique_ptr<runtime::Session> session_;
  int times_ = 1;       // that a step runs the instructions
  int processors_ = 0;  // that share out the work; 0: what passes on the clock is the time
};

// kRounds rounds of all of them, [program].
absl::StatusOr<std::vector<Timing>> TimeInRounds(const std::vector<TimedProgram>& programs);

}  // namespace yuba::tools

#endif  // YUBA_TOOLS_CALIBRATE_TIME_PROGRAM_H_
