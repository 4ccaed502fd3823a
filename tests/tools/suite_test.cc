// A suite of searches and problems as `yuba-bench suite` prints it.
#include <catch2/catch.hpp>
#include <fstream>
#include <sstream>

#include "tests/support/command.h"

namespace yuba::tools {
namespace {

std::string OpTemplate(const std::string& path, const std::string& text) {
  std::ofstream(path) << text;
  return path;
}

// The printed rows that name `what`.
std::string Rows(const std::string& out, const std::string& what) {
  std::string rows, line;
  std::istringstream lines(out);
  while (std::getline(lines, line)) {
    if (line.find(what) != std::string::npos) rows += line + "\n";
  }
  return rows;
}

TEST_CASE("a suite says what is reached, what is missed, and what failed") {
  const std::string folder = ScratchFolder("suite");
  const std::string problem = OpTemplate(folder + "/two.json", R"({"problem": {
      "name": "two", "nodes": {"intervals": [[0, 1], [0, 1]],
      "costs": [[3, 9], [5, 4]], "usages": [[1, 1], [1, 1]]},
      "edges": {"nodes": [[0, 1]], "costs": [[0, 7, 0, 0]]}, "usage_limit": 2}})");
  const std::string run = R"({"model": "lstm/model.onnx", "seconds": 1000, )";
  const std::string copies_of = run + R"("flags": ["--repeat", "1", "--space", "copies=all"], )";
  const std::string suite = OpTemplate(
      folder + "/suite.json",
      R"({"runs": [)" + run + R"("flags": ["--repeat", "1", "--space", "copies=none"],)" +
          R"("name": "bare"},)" + copies_of + R"("saves_of": "bare", "saves_percent": 1},)" +
          copies_of + R"("saves_of": "bare", "saves_percent": 99},)" +
          R"({"model": "mlp/model.onnx", "seconds": 1000, "flags": ["--memory", "1"]}], )" +
          R"("problems": [)" + R"({"file": ")" + problem + R"(", "seconds": 1, "published": 8},)" +
          R"({"file": ")" + problem + R"(", "seconds": 1, "published": 7},)" +
          R"({"file": "none.json", "seconds": 1, "published": 7}]})");
  const CommandResult result =
      RunCommand("yuba-bench suite " + suite + " --models " + RepositoryFile("tests/models"));
  INFO(result.out << result.error);
  REQUIRE(result.exit_code == 1);
  CHECK(result.error.find("2 of 7 rows failed") != std::string::npos);
  const std::string copies = Rows(result.out, "--space copies=all");
  CHECK(copies.find(" % fewer (1) ") != std::string::npos);
  CHECK(copies.find(" % fewer (99)**") != std::string::npos);
  CHECK(Rows(result.out, "--memory 1").find("failed: exit code 1") != std::string::npos);
  const std::string problems = Rows(result.out, "two.json");
  CHECK(problems.find("0.000 (10)") != std::string::npos);
  CHECK(problems.find("**(10)**") != std::string::npos);
  CHECK(Rows(result.out, "none.json").find("failed: exit code 2") != std::string::npos);
}

TEST_CASE("a suite that compares with no run before it, or misspells a key, is refused") {
  const std::string suite =
      OpTemplate(ScratchFolder("suite_names") + "/suite.json",
                 R"({"runs": [{"model": "mlp/model.onnx", "seconds": 1, "saves_of": "later"},)"
                 R"({"model": "mlp/model.onnx", "seconds": 1, "name": "later"}]})");
  const CommandResult result = RunCommand("yuba-bench suite " + suite);
  CHECK(result.exit_code == 2);
  CHECK(result.error.find("no run before it has that name") != std::string::npos);
  const CommandResult misspelt =
      RunCommand("yuba-bench suite " +
                 OpTemplate(ScratchFolder("suite_keys") + "/suite.json",
                            R"({"runs": [{"model": "mlp/model.onnx", "seconds": 1, "gapp": 0}]})"));
  CHECK(misspelt.exit_code == 2);
  CHECK(misspelt.error.find("\"gapp\" is no key") != std::string::npos);
}

}  // namespace
}  // namespace yuba::tools
