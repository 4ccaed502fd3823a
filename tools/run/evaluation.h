// Evaluations between the steps of training (--eval), and the numbers that steps and they compute.
#ifndef YUBA_TOOLS_RUN_EVALUATION_H_
#define YUBA_TOOLS_RUN_EVALUATION_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "runtime/session.h"
#include "tools/run/means.h"
#include "tools/run/run_files.h"
#include "tools/run/run_loop.h"
#include "tools/run/step_inputs.h"
#include "tools/run/stop_request.h"

namespace yuba::tools {

// The outputs of the entry that are one float and no state, such as a loss.
std::vector<std::string> NumberNames(const runtime::LoadedProgram& program,
                                     const std::string& entry);
// With the values that they have after a run of the entry.
absl::StatusOr<Numbers> NumbersOf(runtime::Session& session, const std::string& entry);

// Runs the entry `eval` over all its batches, and prints the mean of each of its numbers. It leaves
// other values in inputs, and no other states.
class Evaluation {
 public:
  Evaluation(runtime::Session& session, RunFiles& files, StopRequest& stop, bool json,
             Record* record)
      : session_(session), files_(files), stop_(stop), json_(json), record_(record) {}

  bool wanted() const { return files_.eval.has_value(); }
  const Numbers& numbers() const { return numbers_; }  // of the last run

  // Values that no batch of examples has, such as labels of all batches, are those of the steps.
  absl::Status Run(const std::string& after, StepInputs& of_steps);

 private:
  runtime::Session& session_;
  RunFiles& files_;
  StopRequest& stop_;
  const bool json_;
  Record* const record_;
  Numbers numbers_;
};

}  // namespace yuba::tools

#endif  // YUBA_TOOLS_RUN_EVALUATION_H_
