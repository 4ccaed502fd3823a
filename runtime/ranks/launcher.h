// Launchers of parallel programs (mpirun, mpiexec, torchrun, srun, and `--ranks` of our own) start
// one process for each rank, and tell each by its environment which one it is.
//
//   YUBA_ASSIGN_OR_RETURN(const absl::optional<Launched> launched, LaunchedBy(std::getenv));
//
// In the second process of `mpirun -n 2 yuba-run p.yuba` it is {"mpirun", 1, 2, 1, 2, "openmpi"}.
#ifndef YUBA_RUNTIME_RANKS_LAUNCHER_H_
#define YUBA_RUNTIME_RANKS_LAUNCHER_H_

#include <functional>
#include <string>

#include "absl/status/statusor.h"
#include "absl/types/optional.h"

namespace yuba::runtime {

// What `--ranks` of our own gives to the processes that it starts (start_ranks.h).
constexpr char kRankVariable[] = "YUBA_RANK";
constexpr char kRanksVariable[] = "YUBA_RANKS";
constexpr char kMeetVariable[] = "YUBA_MEET";  // a folder

// One of the processes that a launcher started.
struct Launched {
  std::string launcher;    // "mpirun"
  int rank = 0, size = 1;  // 0 <= rank < size
  int local_rank = -1;     // on this host; -1: it does not say
  int local_size = -1;
  std::string transport;  // that fits: "openmpi", "mpich" or "gloo"
  std::string job;        // the same for all ranks of this job and no other, to meet by:
                          // a file name, or the folder of `--ranks`; "": it does not say
  // Where a transport without a launcher meets (TransportOptions): the folder of `--ranks`,
  // torchrun's store; "": it must be told.
  std::string meeting;
  bool ends_all = false;             // it kills all ranks when one of them ends with an error
  std::string rank_name, size_name;  // the variables that say so
  std::string note;                  // where other launchers say otherwise: which one counts
};

// What the innermost launcher says of this process, whose variables `variable` gives by name (null:
// not set); nothing where there is none. All is of one launcher: others leave theirs in the
// environment. RANK and WORLD_SIZE alone are nobody's, anybody exports them; those of Slurm count
// only in a step, as a batch script by itself has a rank too. An error names a variable that is
// there without its partner, is no number, or is out of range.
absl::StatusOr<absl::optional<Launched>> LaunchedBy(
    const std::function<const char*(const char*)>& variable);

}  // namespace yuba::runtime

#endif  // YUBA_RUNTIME_RANKS_LAUNCHER_H_
