// Ranks that are processes of this machine, forked from a test and joined by sockets.
#ifndef YUBA_TESTS_RUNTIME_RANKS_PROCESS_RANKS_H_
#define YUBA_TESTS_RUNTIME_RANKS_PROCESS_RANKS_H_

#include <functional>
#include <string>
#include <vector>

#include "runtime/ranks/job.h"

namespace yuba::runtime {

struct ProcessOutcome {
  int code = -1;      // 128 + signal
  std::string ended;  // why its job ended; "" where it did not say
};

// Forks a process for each of `size` ranks, which joins, calls `run` and leaves with its result; a
// process ends by _exit. Blocks until all have ended, of which those that are stopped are killed
// when the rest has ended. The calling process must have one thread.
std::vector<ProcessOutcome> RunProcesses(int size, const JobOptions& options,
                                         const std::function<int(Job&)>& run);

}  // namespace yuba::runtime

#endif  // YUBA_TESTS_RUNTIME_RANKS_PROCESS_RANKS_H_
