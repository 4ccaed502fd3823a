// `--ranks N` of our own: the ranks of a job on this machine, without a launcher.
//
//   const HeldSignals signals;
//   if (!launched.has_value() && ranks > 1) return StartRanks(ranks, argv, signals);   // in main
#ifndef YUBA_RUNTIME_RANKS_START_RANKS_H_
#define YUBA_RUNTIME_RANKS_START_RANKS_H_

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/optional.h"
#include "opsemantics/base/clock.h"
#include "runtime/ranks/held_signals.h"

namespace yuba::runtime {

struct RanksEnd {
  int exit_code = 0;  // the first that is not 0, by the order of the ends; 128 + a signal's number
  // Where that end was a signal's and no other rank can have said so, as none has ended by a code
  // of its own that is not 0: the rank, and "rank 1 (host a, process 12) was ended by signal 9
  // (Killed)". Else -1, and empty.
  int rank = -1;
  int64_t process = 0;
  std::string host, reason;
  absl::optional<Clock::time_point> failed_at;  // when it was seen; none: all have ended well
  int asked = 0;                                // the last signal that was passed on; 0: none
};

struct StartOptions {
  // What the others have, once one has not ended well, to end by themselves.
  double grace_seconds = 5;
  std::function<void()> look;  // called some ten times a second while there are ranks; or nothing
  // [rank] the processors that it may run on (processor_shares.h); empty: all of this process's.
  std::vector<std::vector<int>> processors;
};

// Starts so many copies of this very process's program with the arguments `argv` (ended by null)
// and this environment, in which each finds its rank (launcher.h) and a folder to meet in, which
// is removed at the end. Blocks until all have ended. Where one ends by another code than 0, the
// others get some seconds to end by themselves, then SIGTERM, then, as long after it, SIGKILL.
// Ranks end well together, so one that is still there four times as long after another one has is
// killed, and counts as well ended.
//
// SIGINT, SIGTERM and SIGUSR1 are passed on to all; each rank is a process group of its own, so
// that a terminal's Ctrl-C comes once. They end with this process whatever ends it. Rank 0 has its
// standard input, the others none; standard output and error are shared.
//
// An error where `ranks` is below 1 or the system starts no process; none is left then. Called by
// the process's only thread.
absl::StatusOr<RanksEnd> StartRanks(int ranks, char* const* argv, const HeldSignals& signals,
                                    const StartOptions& options = {});

}  // namespace yuba::runtime

#endif  // YUBA_RUNTIME_RANKS_START_RANKS_H_
