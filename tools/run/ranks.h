// A command that may run as several processes, a rank each: started by a launcher, or here by
// --ranks.
#ifndef YUBA_TOOLS_RUN_RANKS_H_
#define YUBA_TOOLS_RUN_RANKS_H_

#include <functional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "runtime/ranks/job.h"
#include "tools/run/run_flags.h"

namespace yuba::tools {

// What ends with this exit code, which another process has explained: without a message, but for
// codes that no command of ours has.
absl::Status StatusOf(int exit_code);

// What this process was started with, its name too; and as a process is started with it, ended by
// null, while `arguments` are there.
absl::StatusOr<std::vector<std::string>> OwnArguments();
std::vector<char*> PointersTo(std::vector<std::string>& arguments);

// What a run has come to, as an output that differs from what was expected, or that a signal ended
// it: all ranks are through with their work, and what is not OK is for all to know. Other errors
// of a rank mean that it cannot go on, which ends the job.
absl::Status AsOutcome(absl::Status status);

// The ranks that a run on GPUs is started as where nobody says how many: one for each of its
// devices, where they are several and there is a GPU for each; else 0, and one process has all
// devices.
int RanksOfItself(int devices, int gpus);

// [rank] the processors to which ranks that are started here are bound (StartOptions): on the host
// back end, without --no-bind, to shares of this process's; else empty.
std::vector<std::vector<int>> ProcessorsOfRanks(const RunFlags& flags, int ranks);

// Calls `run` with the job that this process is a rank of, or with null where it runs alone; blocks
// until all ranks are through. Meanwhile rank 0 alone prints, without --all-ranks, and
// flags.writes says whether this rank writes files. Where --ranks asks for it, the ranks are other
// processes, and `run` is called in each of these instead; so too for a run on GPUs where
// RanksOfItself says so. devices() says how many the run is for; 0: `run` is to say what is wrong
// with it; it is asked only there. All ranks end with one status: the first
// that is not OK, by rank, of those that `run` returned; or why the job ended. It has no message
// where somebody has printed it. Where a transport must not be asked to end, this ends the process,
// by the exit code of that status, `command` in front of its message.
absl::Status RunAsRank(const std::string& command, RunFlags& flags,
                       const std::function<int()>& devices,
                       const std::function<absl::Status(runtime::Job*)>& run);

}  // namespace yuba::tools

#endif  // YUBA_TOOLS_RUN_RANKS_H_
