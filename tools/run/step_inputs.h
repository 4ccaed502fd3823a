// The values of a run's steps, put in place one step after the other, and of a step in
// micro-batches one part after the other.
#ifndef YUBA_TOOLS_RUN_STEP_INPUTS_H_
#define YUBA_TOOLS_RUN_STEP_INPUTS_H_

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "runtime/session.h"
#include "tools/run/data/batches.h"
#include "tools/run/entry_runs.h"

namespace yuba::tools {

class StepInputs {
 public:
  // Of the steps behind the first `done`. `run` must outlive it.
  StepInputs(EntryRun& run, int64_t done);

  // Takes the values of the next step, and gives the session those that are the same in all its
  // parts. In the first step the values of the run replace those of its batch; they are freed then.
  // Errors name the file.
  absl::Status Set(runtime::Session& session);

  // Gives the session the rest: of each value that has `run.parts` times as many examples as the
  // program reads, those of this part. A step in one part has no such values.
  absl::Status SetPart(runtime::Session& session, int64_t part);

  // What the outputs of the step should be.
  const Expected& expected() const { return reader_ != nullptr ? expected_ : run_.first.expected; }

 private:
  // Gives each value to the session, or keeps it in whole_ where it has examples of several parts.
  absl::Status Take(runtime::Session& session, std::vector<StepFiles::Input>& inputs);

  EntryRun& run_;
  std::unique_ptr<BatchReader> reader_;
  Expected expected_;
  struct Whole {  // a value of a step in parts
    StepFiles::Input input;
    int dim = 0;  // counts examples
  };
  std::map<std::string, Whole> whole_;  // by input
};

}  // namespace yuba::tools

#endif  // YUBA_TOOLS_RUN_STEP_INPUTS_H_
