// Runs commands of the project as a user does, and names the files and folders that tests use.
#ifndef YUBA_TESTS_SUPPORT_COMMAND_H_
#define YUBA_TESTS_SUPPORT_COMMAND_H_

#include <cstdint>
#include <string>

namespace yuba {

struct CommandResult {
  int exit_code = -1;      // 128 + signal where one ended it
  std::string out;         // stdout
  std::string error;       // stderr
  int64_t peak_bytes = 0;  // resident at most, of the largest process that the line started
};

// Runs `line` by a shell, in which `yuba`, `yuba-run` and `yuba-bench` are the built ones, and
// blocks until it has ended. After two minutes it is ended, with exit code 124.
CommandResult RunCommand(const std::string& line);

// RunCommand; the test case fails where the exit code is not 0.
CommandResult Succeed(const std::string& line);

// Whether the machine has this command.
bool IsThere(const std::string& program);

// Begins a line that starts ranks by Open MPI: on this machine alone, more than it has processors,
// and by root too. Its other flags follow, -n with its number last.
constexpr char kMpirun[] =
    "env OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 "
    "OMPI_MCA_btl_tcp_if_include=lo OMPI_MCA_oob_tcp_if_include=lo mpirun.openmpi "
    "--oversubscribe ";

// A folder of this test's own, empty at first.
std::string ScratchFolder(const std::string& name);

// A file of the repository, e.g. "tests/models/mlp/model.onnx".
std::string RepositoryFile(const std::string& path);

// The folder that YUBA_TEST_DATA names, "" where it is unset.
std::string TestData();

}  // namespace yuba

#endif  // YUBA_TESTS_SUPPORT_COMMAND_H_
