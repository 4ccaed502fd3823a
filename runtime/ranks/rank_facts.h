// What ranks know of each other.
#ifndef YUBA_RUNTIME_RANKS_RANK_FACTS_H_
#define YUBA_RUNTIME_RANKS_RANK_FACTS_H_

#include <cstdint>
#include <string>
#include <vector>

namespace yuba::runtime {

// What each rank tells the others before any work.
struct RankFacts {
  int rank = 0, size = 1;       // as its launcher says
  std::string launcher;         // "mpirun"
  std::string host;             // its name
  int64_t process = 0;          // its number there
  std::string version;          // of the command
  std::vector<int> processors;  // of the host, that it may run on (sched_getaffinity)
};

struct JobOptions {
  double timeout_seconds =
      600;                      // in which a rank that others wait for must get on; may be infinite
  double silence_seconds = 20;  // in which some word must come of each rank
  double beat_seconds = 0.1;    // between two words of a rank
};

// What a rank does, as others see it.
struct RankState {
  int64_t step = 0;      // runs of entries that it has begun
  int instruction = -1;  // of the program, that it is in; -1: none
  int waits_for = -1;    // the rank that it waits for; -1: it works
  int64_t progress = 0;  // grows when it has got on

  bool operator==(const RankState& other) const {
    return step == other.step && instruction == other.instruction && waits_for == other.waits_for &&
           progress == other.progress;
  }
};

// Whose fault ended a job.
struct RankFault {
  int rank = -1;     // -1: no failure has ended it
  int64_t step = 0;  // steps that it had begun, as far as is known
};

}  // namespace yuba::runtime

#endif  // YUBA_RUNTIME_RANKS_RANK_FACTS_H_
