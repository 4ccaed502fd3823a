#include "tests/support/command.h"

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

namespace yuba {
namespace {

std::string Slurp(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

}  // namespace

std::string ScratchFolder(const std::string& name) {
  const char* root = std::getenv("TEST_TMPDIR");
  const std::filesystem::path folder = std::filesystem::path(root ? root : "/tmp") / name;
  std::filesystem::remove_all(folder);
  std::filesystem::create_directories(folder);
  return folder.string();
}

std::string RepositoryFile(const std::string& path) {
  const char* root = std::getenv("TEST_SRCDIR");
  const char* workspace = std::getenv("TEST_WORKSPACE");
  if (root == nullptr || workspace == nullptr) return path;
  return std::string(root) + "/" + workspace + "/" + path;
}

std::string TestData() {
  const char* folder = std::getenv("YUBA_TEST_DATA");
  return folder ? folder : "";
}

bool IsThere(const std::string& program) {
  return std::system(("command -v " + program + " > /dev/null 2>&1").c_str()) == 0;
}

CommandResult RunCommand(const std::string& line) {
  static int count = 0;
  const std::string base = ScratchFolder("command" + std::to_string(count++));
  const std::string tools = RepositoryFile("tools");
  const std::string file = base + "/line";
  std::ofstream(file) << line;
  const std::string shell = "export PATH='" + tools + "':'" + tools +
                            "/bench':\"$PATH\"; timeout 120 bash '" + file + "' >'" + base +
                            "/out' 2>'" + base + "/error'";
  const pid_t child = fork();
  if (child == 0) {
    execl("/bin/sh", "sh", "-c", shell.c_str(), nullptr);
    _exit(127);
  }
  int status = 0;
  struct rusage usage = {};
  REQUIRE(wait4(child, &status, 0, &usage) == child);
  CommandResult result;
  result.peak_bytes = int64_t{usage.ru_maxrss} * 1024;
  result.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  result.out = Slurp(base + "/out");
  result.error = Slurp(base + "/error");
  return result;
}

CommandResult Succeed(const std::string& line) {
  CommandResult result = RunCommand(line);
  INFO(line);
  INFO(result.out);
  INFO(result.error);
  REQUIRE(result.exit_code == 0);
  return result;
}

}  // namespace yuba
