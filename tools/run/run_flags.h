// The flags that `yuba run` and `yuba-run` share.
#ifndef YUBA_TOOLS_RUN_RUN_FLAGS_H_
#define YUBA_TOOLS_RUN_RUN_FLAGS_H_

#include <CLI/CLI.hpp>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/types/optional.h"
#include "runtime/session.h"

namespace yuba::tools {

struct RunFlags {
  runtime::RunOptions options;
  std::vector<std::string> inputs;  // NAME=FILE
  std::string input_dir;            // input_0.pb, ... or .npy; output_0 for --check
  std::string output_dir;
  std::string weights;  // safetensors
  bool check = false;
  double tolerance = 0;
  std::string random;  // empty: no; "true": with the usual seed; else the seed
  bool check_memory = false;
  int steps = 1;
  std::string trace;  // a file
  bool json = false;
  absl::optional<int64_t> planned_bytes;  // what a step must move, where a plan promises it
};
void AddRunFlags(CLI::App* app, RunFlags& flags);

}  // namespace yuba::tools

#endif  // YUBA_TOOLS_RUN_RUN_FLAGS_H_
