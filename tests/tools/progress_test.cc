// What is said on stderr while a command works: lines with --progress, one line on a terminal,
// nothing elsewhere. The searches here would take long; a time limit ends them.
#include <catch2/catch.hpp>

#include "tests/support/command.h"

namespace yuba::tools {
namespace {

std::string Partition(const std::string& folder) {
  return "yuba partition " + RepositoryFile("tests/models/gpt/model.onnx") +
         " --devices 512 --time-limit 3 -o " + ScratchFolder(folder) + "/p.json";
}

TEST_CASE("--progress says the phase, its seconds, the engine and the best plan") {
  const CommandResult result = Succeed(Partition("asked") + " --progress");
  INFO(result.error);
  const size_t search = result.error.find("phase search  ");
  REQUIRE(search != std::string::npos);
  const std::string line = result.error.substr(search, result.error.find('\n', search) - search);
  CHECK(line.find(" s  ") != std::string::npos);
  CHECK(result.error.find("  plan ") != std::string::npos);
  CHECK(result.error.find('\r') == std::string::npos);
  CHECK(result.out.find("phase") == std::string::npos);
}

TEST_CASE("bench says which search runs on how many devices, and its best plan") {
  const CommandResult result =
      Succeed("yuba-bench search " + RepositoryFile("tests/models/gpt/model.onnx") +
              " --devices 8,512 --search default --time-limit 2 --repeat 1 --progress");
  INFO(result.error);
  const size_t search = result.error.find("default on 512 devices  ");
  REQUIRE(search != std::string::npos);
  CHECK(result.error.find("  plan ", search) != std::string::npos);
}

TEST_CASE("without it and without a terminal nothing is said") {
  CHECK(Succeed(Partition("silent")).error.find("phase") == std::string::npos);
}

TEST_CASE("on a terminal one line is drawn again and again, and wiped at the end") {
  if (RunCommand("command -v script").exit_code != 0) {
    WARN("skipped: there is no command `script`, which runs a command on a terminal");
    return;
  }
  const std::string drawn = Succeed("script -qec '" + Partition("terminal") + "' /dev/null").out;
  const size_t first = drawn.find("\rphase search  "), last = drawn.rfind("\rphase search  ");
  REQUIRE(first != std::string::npos);
  CHECK(last > first);
  CHECK(drawn.find("\r\x1b[K", last) != std::string::npos);
  CHECK(drawn.find("MOVED a step", last) != std::string::npos);
}

}  // namespace
}  // namespace yuba::tools
