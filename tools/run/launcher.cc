#include "tools/run/launcher.h"

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"

namespace yuba::tools {
namespace {

struct Family {
  const char *launcher, *rank, *size;
  const char* needs;  // a variable without which the others say nothing; null: none
};

// Innermost first: torchrun's workers may inherit an agent's variables, and mpirun's those of a
// batch script. RANK and WORLD_SIZE alone prove nothing, anybody exports them.
constexpr Family kFamilies[] = {
    {"torchrun", "RANK", "WORLD_SIZE", "TORCHELASTIC_RUN_ID"},
    {"mpirun", "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", nullptr},
    {"mpiexec", "PMI_RANK", "PMI_SIZE", nullptr},
    {"srun", "SLURM_PROCID", "SLURM_STEP_NUM_TASKS", nullptr},
};

}  // namespace

absl::optional<Copy> CopyOfLauncher(const std::function<const char*(const char*)>& variable) {
  for (const Family& family : kFamilies) {
    const char* rank = variable(family.rank);
    const char* size = variable(family.size);
    if (rank == nullptr || size == nullptr) continue;
    if (family.needs != nullptr && variable(family.needs) == nullptr) continue;
    Copy copy = {family.launcher, family.rank, family.size};
    const bool numbers = absl::SimpleAtoi(rank, &copy.rank) && absl::SimpleAtoi(size, &copy.size);
    if (!numbers || copy.rank < 0 || copy.rank >= copy.size) continue;
    return copy.size > 1 ? absl::make_optional(copy) : absl::nullopt;
  }
  return absl::nullopt;
}

std::string WarningOf(const Copy& copy) {
  return absl::StrCat(
      "warning: ", copy.launcher, " has started ", copy.size, " whole copies of this run (",
      copy.size_name, "=", copy.size, ", ", copy.rank_name, "=", copy.rank,
      "), which share no work: one process runs all ", "devices of a plan. Start it once, without ",
      copy.launcher, "; rank 0 alone writes checkpoints\n");
}

}  // namespace yuba::tools
