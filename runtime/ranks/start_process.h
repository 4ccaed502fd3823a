// One process of a rank (start_ranks.h).
#ifndef YUBA_RUNTIME_RANKS_START_PROCESS_H_
#define YUBA_RUNTIME_RANKS_START_PROCESS_H_

#include <signal.h>
#include <sys/types.h>

#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace yuba::runtime {

// The environment of a rank: this process's, with what launcher.h reads.
std::vector<std::string> VariablesOf(int rank, int ranks, const std::string& folder);

// Starts the program of this process with `argv`, `variables` and the signals of `mask` held back,
// as a group of its own that the system kills when the calling thread ends. It may run on
// `processors`, where these are not empty and the system allows it, else where this process may. An
// error where it cannot be started, and then there is none.
absl::StatusOr<pid_t> StartProcess(char* const* argv, const std::vector<std::string>& variables,
                                   bool keeps_input, const sigset_t& mask,
                                   const std::vector<int>& processors);

}  // namespace yuba::runtime

#endif  // YUBA_RUNTIME_RANKS_START_PROCESS_H_
