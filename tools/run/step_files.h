// The tensors that files give to the steps of a run: values of inputs, and expected outputs. Errors
// are the user's and name the file.
#ifndef YUBA_TOOLS_RUN_STEP_FILES_H_
#define YUBA_TOOLS_RUN_STEP_FILES_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/optional.h"
#include "opsemantics/values/tensor_file.h"
#include "runtime/program/program.pb.h"
#include "tools/run/run_flags.h"

namespace yuba::tools {

// The names of what a program takes and gives.
struct RunPorts {
  std::vector<std::string> entries;  // one at least
  std::vector<std::string> inputs, outputs;
  std::vector<std::string> unset;  // parameters that come without values
  std::vector<std::string>
      file_inputs;  // [i] the input or parameter of which input_i.pb is the value
  std::vector<std::string> file_outputs;  // [i] the output that output_i.pb is compared with
  bool random = false;  // whether random numbers are drawn, so that there is a seed to set
};
RunPorts PortsOf(const program::Program& program);
// What `name` of the model's file is called in an entry: of several entries each may have inputs
// and outputs of its own, "decode:ids", besides those that all have in common.
std::string NameInEntry(const RunPorts& ports, const std::string& entry, const std::string& name);

// What is read for one step.
struct StepFiles {
  struct Input {
    std::string name, file;
    TensorData value;
  };
  std::vector<Input> inputs;                         // from --inputs, then from --input
  std::vector<absl::optional<TensorData>> expected;  // [output]; empty without --check
};

// Steps of one entry that follow each other.
struct EntryRun {
  std::string entry;
  int times = 1;
  std::vector<StepFiles> steps;      // one for all steps, or one for each
  std::vector<std::string> outputs;  // [output of the file]: its name in the program
};

// What runs one after the other, as --entry and --steps say, with the files of --inputs and
// --input. There is one StepFiles for each step whose files differ: one where the folder itself has
// input_0.pb (or .npy), or where there is no folder; else one for each of test_data_set_0,
// test_data_set_1, ... in it, as ONNX's test data has them. Values of --input are those of the
// first step. Example: --inputs DIR with DIR/test_data_set_0 and DIR/test_data_set_1 is a run of
// two steps; what the second folder lacks keeps the value that it had in the first. Where the
// program has several entries, the files of each are in DIR/ENTRY.
absl::StatusOr<std::vector<EntryRun>> ReadRuns(const RunFlags& flags, const RunPorts& ports);

}  // namespace yuba::tools

#endif  // YUBA_TOOLS_RUN_STEP_FILES_H_
