// What a run runs: entries one after the other, how often each, and where the values of their
// inputs come from.
#ifndef YUBA_TOOLS_RUN_ENTRY_RUNS_H_
#define YUBA_TOOLS_RUN_ENTRY_RUNS_H_

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/optional.h"
#include "tools/run/checkpoint/checkpoint.h"
#include "tools/run/data/batches.h"
#include "tools/run/run_flags.h"
#include "tools/run/run_ports.h"

namespace yuba::tools {

// Steps of one entry that follow each other.
struct EntryRun {
  std::string entry;
  int64_t times = 1;
  StepFiles first;                   // before the first step, and kept from then on
  std::shared_ptr<Batches> batches;  // in each step, before it; null: there are none
  std::vector<std::string> outputs;  // [output of the file]: its name in the program
  int64_t examples = 0;              // that a step takes; 0: its inputs count none
  std::string reading;  // the entry that reads the values: `entry`, or the one before an update
  int64_t parts = 1;    // runs of that entry in a step, each with a part of the rows
  // By what its data is known again (data_print.h), where a checkpoint is read or written.
  std::map<std::string, std::string> prints;

  // The inputs that have a value once the first step begins.
  std::vector<std::string> GivenNames() const;
};

// What runs, as --entry, --steps and --epochs say (without --entry all but `init`, and but `eval`
// where there is `step`), with the values of --inputs, --data and --input.
// Of a folder of --inputs that has input_0.pb (or .npy), the values are those of all steps; of one
// that has test_data_set_0, test_data_set_1, ... in it, as ONNX's test data has them, each is a
// batch, and there are at most as many steps. --data gives batches (example_batches.h, or folders
// likewise), in as many epochs as are asked for. In the first step, values of --input replace
// those of its batch. Example: --inputs DIR with DIR/test_data_set_0 and DIR/test_data_set_1 is a
// run of two steps. Where the program has several entries, the files of each are in DIR/ENTRY of
// --inputs. Batches go on behind those that `resumed` has seen. Errors are the user's.
absl::StatusOr<std::vector<EntryRun>> ReadRuns(const RunFlags& flags, const RunPorts& ports,
                                               const absl::optional<Checkpoint>& resumed);

// One run of `eval` over all batches of --eval, in their order. The user's error where the program
// has no such entry.
absl::StatusOr<EntryRun> ReadEval(const RunFlags& flags, const RunPorts& ports);

}  // namespace yuba::tools

#endif  // YUBA_TOOLS_RUN_ENTRY_RUNS_H_
