// Launchers of parallel programs (mpirun, mpiexec, torchrun, srun) start one process for each rank.
// A run of Yuba is one process for all devices, so under a launcher each rank is a whole copy of
// the run: that is said, and never refused, as batch scripts and containers pass such variables on.
//
// Example: `mpirun -n 2 yuba-run p.yuba` starts two runs of all devices; in the second
// OMPI_COMM_WORLD_RANK is 1 and OMPI_COMM_WORLD_SIZE 2.
#ifndef YUBA_TOOLS_RUN_LAUNCHER_H_
#define YUBA_TOOLS_RUN_LAUNCHER_H_

#include <cstdint>
#include <functional>
#include <string>

#include "absl/types/optional.h"

namespace yuba::tools {

// One of several copies of a process.
struct Copy {
  std::string launcher;              // "mpirun"
  std::string rank_name, size_name;  // the variables that say so
  int64_t rank = 0, size = 1;        // 0 <= rank < size
};

// What the innermost launcher says of this process, whose variables `variable` gives by name (null:
// not set); nothing where it started one process, or where there is none. Rank and size are always
// of one launcher: others leave theirs in the environment. Those of Slurm count only in a step of
// several tasks: a batch script by itself has a rank too.
absl::optional<Copy> CopyOfLauncher(const std::function<const char*(const char*)>& variable);

// What is said of it, a line for stderr.
std::string WarningOf(const Copy& copy);

}  // namespace yuba::tools

#endif  // YUBA_TOOLS_RUN_LAUNCHER_H_
