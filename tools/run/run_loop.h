// The steps of a run, one after the other: inputs in, a step, a line about it, outputs compared,
// states saved.
#ifndef YUBA_TOOLS_RUN_RUN_LOOP_H_
#define YUBA_TOOLS_RUN_RUN_LOOP_H_

#include <map>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "runtime/session.h"
#include "tools/run/batches.h"
#include "tools/run/entry_runs.h"
#include "tools/run/output_check.h"
#include "tools/run/run_flags.h"

namespace yuba::tools {

// Gives the values to the session's inputs and parameters. Errors name the file.
absl::Status SetInputs(runtime::Session& session, const StepFiles& files);

// What --json says of the steps, by step.
struct Record {
  std::vector<double> seconds;
  std::map<std::string, std::vector<double>> numbers;  // by output; of the steps that compute it
};

// Runs the entry `init`, where there is one, once the values of the first step are in place and
// those that no file gives are made up (--random); then all runs, one after the other. Values of
// `runs` are freed once the devices have them.
absl::Status RunAll(runtime::Session& session, const RunFlags& flags, std::vector<EntryRun>& runs,
                    OutputCheck& check, Record* record);

}  // namespace yuba::tools

#endif  // YUBA_TOOLS_RUN_RUN_LOOP_H_
