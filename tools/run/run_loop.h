// The steps of a run, one after the other: inputs in, a step, a line about it, outputs compared,
// states saved.
#ifndef YUBA_TOOLS_RUN_RUN_LOOP_H_
#define YUBA_TOOLS_RUN_RUN_LOOP_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "runtime/session.h"
#include "tools/run/output_check.h"
#include "tools/run/run_files.h"
#include "tools/run/run_flags.h"

namespace yuba::tools {

// What --json says of the steps, by step.
struct Record {
  int64_t first_step = 1;  // of the first entry that runs
  std::vector<double> seconds;
  // By output, of the steps that compute it; and the learning rate, where there is a schedule.
  std::map<std::string, std::vector<double>> numbers;
};

// Runs the entry `init`, where there is one, once the values of the first step are in place and
// those that no file gives are made up (--random); then all runs of `files`, one after the other,
// the first from the step on that its checkpoint has done. Values of inputs are freed once the
// devices have them. Writes checkpoints, as --save and --save-every say. Where InterruptNote
// (interrupt.h) has noted a signal, the run ends after its step, with a checkpoint, and is
// Cancelled.
absl::Status RunAll(runtime::Session& session, const RunFlags& flags, RunFiles& files,
                    OutputCheck& check, Record* record);

}  // namespace yuba::tools

#endif  // YUBA_TOOLS_RUN_RUN_LOOP_H_
