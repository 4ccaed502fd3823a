// Runs commands of the project as a user does.
#ifndef YUBA_TESTS_SUPPORT_COMMAND_H_
#define YUBA_TESTS_SUPPORT_COMMAND_H_

#include <string>

namespace yuba {

struct CommandResult {
  int exit_code = -1;  // 128 + signal where one ended it
  std::string out;     // stdout
  std::string error;   // stderr
};

// `line` is a shell command; `yuba` and `yuba-run` in it are the built ones. It is ended, with exit
// code 124, after two minutes.
CommandResult RunCommand(const std::string& line);

// The same; the test case fails where the command does.
CommandResult Succeed(const std::string& line);

// A folder of this test's own, empty at first.
std::string ScratchFolder(const std::string& name);

// A file of the repository, e.g. "tests/models/mlp/model.onnx".
std::string RepositoryFile(const std::string& path);

// The folder that YUBA_TEST_DATA names, "" where it is unset.
std::string TestData();

}  // namespace yuba

#endif  // YUBA_TESTS_SUPPORT_COMMAND_H_
