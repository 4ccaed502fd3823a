#include "runtime/ranks/launcher.h"

#include <string>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "opsemantics/base/status.h"

namespace yuba::runtime {
namespace {

using Variables = std::function<const char*(const char*)>;

struct Family {
  const char *launcher, *rank, *size;
  const char *local_rank, *local_size;  // null: it has none
  const char* needs;                    // without it the others say nothing; null: none
  const char* transport;
  const char* mpi_if;  // a variable with which it is "openmpi"; null: none
  std::vector<const char*> job;
  bool starts_launchers;   // in the ordinary course: that it says otherwise is no news
  bool has_store = false;  // torchrun's (StoreOf)
  bool ends_all = false;   // Launched
};

// Innermost first: torchrun's workers may inherit an agent's variables, and mpirun's those of a
// batch script or of the step by which its daemons were started.
const std::vector<Family>& Families() {
  static const auto& families = *new std::vector<Family>{
      {"--ranks",
       kRankVariable,
       kRanksVariable,
       kRankVariable,
       kRanksVariable,
       nullptr,
       "gloo",
       nullptr,
       {},
       false},
      {"torchrun",
       "RANK",
       "WORLD_SIZE",
       "LOCAL_RANK",
       "LOCAL_WORLD_SIZE",
       "TORCHELASTIC_RUN_ID",
       "gloo",
       nullptr,
       {"MASTER_PORT", "TORCHELASTIC_RESTART_COUNT", "TORCHELASTIC_RUN_ID"},
       false,
       true,
       true},
      {"mpirun",
       "OMPI_COMM_WORLD_RANK",
       "OMPI_COMM_WORLD_SIZE",
       "OMPI_COMM_WORLD_LOCAL_RANK",
       "OMPI_COMM_WORLD_LOCAL_SIZE",
       nullptr,
       "openmpi",
       nullptr,
       {"PMIX_NAMESPACE"},
       false,
       false,
       true},
      {"mpiexec",
       "PMI_RANK",
       "PMI_SIZE",
       "MPI_LOCALRANKID",
       "MPI_LOCALNRANKS",
       nullptr,
       "mpich",
       nullptr,
       {},
       false,
       false,
       true},
      {"srun",
       "SLURM_PROCID",
       "SLURM_STEP_NUM_TASKS",
       "SLURM_LOCALID",
       nullptr,
       "SLURM_STEP_NUM_TASKS",
       "gloo",
       "PMIX_RANK",
       {"SLURM_JOB_ID", "SLURM_STEP_ID"},
       true},
  };
  return families;
}

bool IsThere(const Family& family, const Variables& variable) {
  if (family.needs != nullptr) return variable(family.needs) != nullptr;
  return variable(family.rank) != nullptr || variable(family.size) != nullptr;
}

// A number of the environment from `least` on.
absl::StatusOr<int> NumberOf(const Family& family, const char* name, int least,
                             const Variables& variable) {
  const char* const text = variable(name);
  if (text == nullptr) {
    const char* const partner = name == family.rank ? family.size : family.rank;
    return UserError(name, " is not set, but ", variable(partner) ? partner : family.needs,
                     " is: start the command by ", family.launcher, ", or unset both");
  }
  int number = 0;
  if (absl::SimpleAtoi(text, &number) && number >= least) return number;
  return UserError(name, "=", absl::CHexEscape(text), " of ", family.launcher,
                   " is no number from ", least, " on; start the command by ", family.launcher,
                   ", or unset it");
}

// Rank and size, or local rank and size.
absl::Status SetRange(const Family& family, const char* rank_name, const char* size_name,
                      const Variables& variable, int& rank, int& size) {
  YUBA_ASSIGN_OR_RETURN(rank, NumberOf(family, rank_name, 0, variable));
  if (size_name == nullptr) return absl::OkStatus();
  YUBA_ASSIGN_OR_RETURN(size, NumberOf(family, size_name, 1, variable));
  if (rank < size) return absl::OkStatus();
  return UserError(rank_name, "=", rank, " of ", family.launcher, " is out of range, as ",
                   size_name, "=", size, "; start the command by ", family.launcher,
                   ", or unset both");
}

absl::Status SetLocal(const Family& family, const Variables& variable, Launched& launched) {
  const auto is_set = [&](const char* name) {
    return name != nullptr && variable(name) != nullptr;
  };
  if (!is_set(family.local_rank)) return absl::OkStatus();
  const char* const size = is_set(family.local_size) ? family.local_size : nullptr;
  return SetRange(family, family.local_rank, size, variable, launched.local_rank,
                  launched.local_size);
}

// Of what a job is known by, with the launcher in front, as a name of a file.
std::string JobOf(const Family& family, const Variables& variable) {
  std::string name;
  for (const char* part : family.job) {
    const char* const text = variable(part);
    if (text != nullptr) absl::StrAppend(&name, "-", text);
  }
  if (name.empty()) return name;
  for (char& c : name) {
    if (!absl::ascii_isalnum(c) && c != '.') c = '-';
  }
  return absl::StrCat(family.launcher, name.substr(0, 200));
}

// The store of torchrun's agent, in which a job is a name: its port stays where workers are started
// again. Without the variable the port is for a worker to listen at, and nobody does.
std::string StoreOf(const std::string& job, const Variables& variable) {
  const char *host = variable("MASTER_ADDR"), *port = variable("MASTER_PORT");
  const char* const is_agents = variable("TORCHELASTIC_USE_AGENT_STORE");
  if (host == nullptr || port == nullptr || is_agents == nullptr) return "";
  if (!absl::EqualsIgnoreCase(is_agents, "true")) return "";
  const bool is_ipv6 = absl::StrContains(host, ":");
  return absl::StrCat("tcp://", is_ipv6 ? "[" : "", host, is_ipv6 ? "]" : "", ":", port, "/", job);
}

std::string Claim(const Family& family, const Variables& variable) {
  return absl::StrCat(family.launcher, " (", family.rank, "=",
                      absl::CHexEscape(variable(family.rank)), ", ", family.size, "=",
                      absl::CHexEscape(variable(family.size)), ")");
}

// Which of the families counts, where one behind it says otherwise.
std::string NoteOf(const Family& counts, const Variables& variable) {
  std::string others;
  for (const Family& family : Families()) {
    if (family.starts_launchers || !IsThere(family, variable)) continue;
    const char *rank = variable(family.rank), *size = variable(family.size);
    if (rank == nullptr || size == nullptr) continue;
    if (std::string(rank) == variable(counts.rank) && std::string(size) == variable(counts.size)) {
      continue;
    }
    absl::StrAppend(&others, others.empty() ? "" : ", ", Claim(family, variable));
  }
  return others.empty() ? "" : absl::StrCat(Claim(counts, variable), " counts, not ", others);
}

}  // namespace

absl::StatusOr<absl::optional<Launched>> LaunchedBy(const Variables& variable) {
  for (const Family& family : Families()) {
    if (!IsThere(family, variable)) continue;
    Launched launched;
    launched.launcher = family.launcher;
    launched.ends_all = family.ends_all;
    launched.rank_name = family.rank;
    launched.size_name = family.size;
    YUBA_RETURN_IF_ERROR(
        SetRange(family, family.rank, family.size, variable, launched.rank, launched.size));
    YUBA_RETURN_IF_ERROR(SetLocal(family, variable, launched));
    const char* const other = family.mpi_if;
    launched.transport =
        other != nullptr && variable(other) != nullptr ? "openmpi" : family.transport;
    if (family.rank == kRankVariable) {
      const char* const folder = variable(kMeetVariable);
      if (folder == nullptr) {
        return UserError(kMeetVariable, " is not set, but ", kRankVariable,
                         " is: start the command with --ranks, or unset both");
      }
      launched.job = launched.meeting = folder;
    } else {
      launched.job = JobOf(family, variable);
      if (family.has_store) launched.meeting = StoreOf(launched.job, variable);
    }
    launched.note = NoteOf(family, variable);
    return absl::make_optional(launched);
  }
  return absl::optional<Launched>();
}

}  // namespace yuba::runtime
