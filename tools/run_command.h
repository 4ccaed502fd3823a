// Running a program from the command line: what `yuba run` and `yuba-run` share.
#ifndef YUBA_TOOLS_RUN_COMMAND_H_
#define YUBA_TOOLS_RUN_COMMAND_H_

#include <CLI/CLI.hpp>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/optional.h"
#include "runtime/session.h"

namespace yuba {

struct RunFlags {
  RunOptions options;
  std::vector<std::string> inputs;  // NAME=FILE
  std::string input_dir;            // input_0.pb, ... or .npy; output_0 for --check
  std::string output_dir;
  std::string weights;              // safetensors
  bool check = false;
  double tolerance = 0;
  std::string random;               // empty: no; "true": with the usual seed; else the seed
  bool check_memory = false;
  int steps = 1;
  std::string trace;                // a file
  bool json = false;
  absl::optional<int64_t> planned_bytes;  // what a step must move, where a plan promises it
};
void AddRunFlags(CLI::App* app, RunFlags& flags);

// Brings values in, runs the steps, prints a line for each, writes and checks outputs. A failed
// check is absl::StatusCode::kFailedPrecondition; a step that moves other than the planned bytes is
// kInternal.
absl::Status RunProgram(const std::shared_ptr<LoadedProgram>& program, const RunFlags& flags);

// How far a tensor is from what was expected.
struct Comparison {
  bool comparable = false;               // of one shape and element type
  double difference = 0, largest = 0;    // the largest difference; the largest expected magnitude
  int64_t strange = 0;  // elements that are NaN or infinite where the other is not the same
  double allowed = 0;                    // `difference` at most
  bool ok() const { return comparable && strange == 0 && difference <= allowed; }
};
// Integers must be equal, floats within `tolerance` times the largest expected magnitude.
Comparison Compare(const HostTensor& expected, const HostTensor& actual, double tolerance);

}  // namespace yuba

#endif  // YUBA_TOOLS_RUN_COMMAND_H_
