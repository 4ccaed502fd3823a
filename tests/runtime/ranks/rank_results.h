// What sessions leave of which each has one device of a program, to be compared with what a session
// leaves that has all.
#ifndef YUBA_TESTS_RUNTIME_RANKS_RANK_RESULTS_H_
#define YUBA_TESTS_RUNTIME_RANKS_RANK_RESULTS_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "runtime/session.h"
#include "tests/runtime/ranks/run_job.h"

namespace yuba::runtime {

// Of each buffer what one device has of it; and what has moved.
struct StepsResult {
  absl::Status status;
  std::vector<std::string> shards;  // [buffer]
  std::vector<int64_t> bytes_in, bytes_out;
  int64_t bytes = 0;
  int64_t groups = 0;  // of a library, which are not compared
  std::string sums;

  bool operator==(const StepsResult& other) const {
    return shards == other.shards && bytes_in == other.bytes_in && bytes_out == other.bytes_out &&
           bytes == other.bytes;
  }
};

// Fills buffer 0 with floats of all sizes, or two of them as one element of hash arithmetic, the
// same ones for a device in each session, and runs so many steps. Where options.job is set,
// `device` is its rank.
StepsResult RunSteps(const std::shared_ptr<const LoadedProgram>& program, const RunOptions& options,
                     int device, int steps);

// The same of each rank of a job that has one for each device, [rank]. The job is put in `options`.
std::vector<StepsResult> RunRanks(const std::shared_ptr<const LoadedProgram>& program,
                                  const std::vector<RankFacts>& facts, const RunOptions& options,
                                  int steps);

}  // namespace yuba::runtime

#endif  // YUBA_TESTS_RUNTIME_RANKS_RANK_RESULTS_H_
