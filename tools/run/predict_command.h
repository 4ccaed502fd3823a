// A run on the back end `model`: nothing is computed, times are predicted (runtime/model). What
// `yuba run` and `yuba-run` share.
#ifndef YUBA_TOOLS_RUN_PREDICT_COMMAND_H_
#define YUBA_TOOLS_RUN_PREDICT_COMMAND_H_

#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "opsemantics/machine/machine.h"
#include "runtime/model/predict.h"
#include "runtime/program/program.h"
#include "tools/run/run_flags.h"

namespace yuba::tools {

// The machine of --machine. The user's error where it is not named, or is not there; and where
// flags ask for values, which this back end does not have.
absl::StatusOr<Machine> MachineToPredict(const RunFlags& flags);

// Predictions, with events, of the entries that a run with these flags runs, `init` left out.
absl::StatusOr<std::vector<runtime::Prediction>> PredictEntries(
    const runtime::LoadedProgram& program, const Machine& machine, const RunFlags& flags,
    const runtime::RunPolicy& policy);

// Prints the predicted times of each entry to stdout, as today's run time runs it and as one that
// only enqueues would, and writes the trace of the first. Internal where the program moves other
// bytes than the plan says.
absl::Status PredictProgram(const runtime::LoadedProgram& program, const Machine& machine,
                            const RunFlags& flags);

}  // namespace yuba::tools

#endif  // YUBA_TOOLS_RUN_PREDICT_COMMAND_H_
