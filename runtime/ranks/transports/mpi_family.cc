#include "runtime/ranks/transports/mpi_family.h"

#include <dlfcn.h>

#include <cstdlib>
#include <initializer_list>

namespace yuba::runtime {
namespace {

#ifdef OPEN_MPI
constexpr char kFamily[] = "Open MPI";
constexpr char kStart[] = "start it by Open MPI's mpirun, or by srun --mpi=pmix";
constexpr std::initializer_list<const char*> kOwn = {"OMPI_COMM_WORLD_SIZE", "PMIX_RANK"};
#else
constexpr char kFamily[] = "MPICH";
constexpr char kStart[] = "start it by mpiexec.hydra, or by srun --mpi=pmi2";
// Not PMIX_RANK, which Open MPI's mpirun sets too.
constexpr std::initializer_list<const char*> kOwn = {"PMI_RANK", "PMI_FD", "PMI_ID"};
#endif

bool IsSet(const char* variable) { return std::getenv(variable) != nullptr; }

std::string Launcher() {
  if (IsSet("TORCHELASTIC_RUN_ID")) return "by torchrun";
  if (IsSet("OMPI_COMM_WORLD_SIZE")) return "by Open MPI's mpirun (OMPI_COMM_WORLD_SIZE is set)";
  if (IsSet("PMI_RANK")) return "by a launcher of MPICH (PMI_RANK is set)";
  if (IsSet("SLURM_STEP_NUM_TASKS")) return "by srun without the --mpi that it needs";
  return "without a launcher";
}

}  // namespace

std::string WrongLauncher() {
  for (const char* variable : kOwn) {
    if (IsSet(variable)) return "";
  }
  return std::string(kFamily) + " is asked for, but this process was started " + Launcher() + ": " +
         kStart;
}

void PrepareLibrary() {
#ifdef OPEN_MPI
  // Its plugins are opened by name. Debian's name the libraries whose symbols they take; those of
  // other builds take them from what is visible to all.
  dlopen("libmpi.so.40", RTLD_NOW | RTLD_GLOBAL | RTLD_NOLOAD);
#endif
}

std::string LibraryName() {
  char text[MPI_MAX_LIBRARY_VERSION_STRING] = "";
  int length = 0;
  MPI_Get_library_version(text, &length);
  const std::string all(text,
                        length);  // "Open MPI v4.1.4, package: ...", "MPICH Version:\t4.0.2\n"
  const size_t digit = all.find_first_of("0123456789");
  if (digit == all.npos) return kFamily;
  return std::string(kFamily) + " " + all.substr(digit, all.find_first_of(", \n", digit) - digit);
}

std::string ErrorText(int code) {
  char text[MPI_MAX_ERROR_STRING] = "";
  int length = 0;
  if (MPI_Error_string(code, text, &length) != MPI_SUCCESS) return "error " + std::to_string(code);
  std::string line(text, length);
  for (char& c : line) {
    if (c == '\n') c = ' ';
  }
  return line;
}

}  // namespace yuba::runtime
