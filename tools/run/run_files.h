// The files of a run: what is read before anything is compiled or run, and where outputs go.
#ifndef YUBA_TOOLS_RUN_RUN_FILES_H_
#define YUBA_TOOLS_RUN_RUN_FILES_H_

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/optional.h"
#include "runtime/program/program.pb.h"
#include "runtime/session.h"
#include "tools/run/run_flags.h"

namespace yuba::tools {

// What a program takes and gives, by name.
struct RunPorts {
  std::vector<std::string> inputs, outputs;
  std::vector<std::string> unset;        // parameters that come without values
  std::vector<std::string> file_inputs;  // what input_0, input_1, ... are the values of
};
RunPorts PortsOf(const program::Program& program);

struct RunFiles {
  struct Input {
    std::string name, file;
    HostTensor value;
  };
  std::vector<Input> inputs;                         // of --inputs, then of --input
  std::map<std::string, HostTensor> weights;         // of --weights
  std::vector<absl::optional<HostTensor>> expected;  // by output, with --check
};

// Reads what the flags name; an error too where a value is missing that nothing makes up, and where
// an output cannot be written or is one of the files that were read.
absl::StatusOr<RunFiles> ReadRunFiles(const RunFlags& flags, const RunPorts& ports);

// The seed that --random gives.
absl::StatusOr<uint64_t> RandomSeed(const std::string& random);

// Makes the folder of --outputs where it is missing, and fills it.
absl::Status WriteOutputs(runtime::Session& session, const RunFlags& flags);

}  // namespace yuba::tools

#endif  // YUBA_TOOLS_RUN_RUN_FILES_H_
