// Jobs whose ranks are threads of this process.
//
//   LocalNetwork network(3);
//   const std::vector<Outcome> outcomes = RunJob(network, FactsOf(3), Short(), [&](Job& job) {
//     return job.rank() == 1 ? 4 : 0;   // what it leaves with
//   });
#ifndef YUBA_TESTS_RUNTIME_RANKS_RUN_JOB_H_
#define YUBA_TESTS_RUNTIME_RANKS_RUN_JOB_H_

#include <functional>
#include <vector>

#include "absl/status/status.h"
#include "runtime/ranks/job.h"
#include "tests/runtime/ranks/local_transport.h"

namespace yuba::runtime {

struct Outcome {
  absl::Status joined;
  int code = -1;  // of Leave
  absl::Status ended;
  bool speaks = false, closed = false;
};

// Limits that no rank reaches which is alive, on a slow machine too.
JobOptions Long();
// Limits of fractions of a second, for what must be found.
JobOptions Short();

// Ranks of a launcher "test", each on a host of its own ("host0", process 100) with one processor.
std::vector<RankFacts> FactsOfRanks(int size);

// facts: [rank of the transport]. Each rank joins in a thread of its own, calls `run` and leaves
// with its result. Blocks until all have ended. `run` may not use Catch's macros.
std::vector<Outcome> RunJob(LocalNetwork& network, const std::vector<RankFacts>& facts,
                            const JobOptions& options, const std::function<int(Job&)>& run);

}  // namespace yuba::runtime

#endif  // YUBA_TESTS_RUNTIME_RANKS_RUN_JOB_H_
