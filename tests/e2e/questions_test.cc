// The commands of docs/questions.md, one after the other as a reader runs them, print what the page
// says.
#include <catch2/catch.hpp>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "tests/support/command.h"

namespace yuba {
namespace {

struct Example {
  std::string command;
  std::vector<std::string> lines;  // that it prints, in this order
};

// What stands in blocks of the page: a command after "$ ", then lines of its output, "..." where
// some are left out.
std::vector<Example> Examples(std::istream& page) {
  std::vector<Example> examples;
  bool in_block = false;
  for (std::string line; std::getline(page, line);) {
    if (line == "```") {
      in_block = !in_block;
    } else if (in_block && line.rfind("$ ", 0) == 0) {
      examples.push_back({line.substr(2), {}});
    } else if (in_block) {
      REQUIRE_FALSE(examples.empty());
      examples.back().lines.push_back(line);
    }
  }
  return examples;
}

// Whether the line is the pattern, in which "…" stands for any text.
bool Matches(const std::string& line, const std::string& pattern) {
  static const std::string any = "…";
  const size_t dots = pattern.find(any);
  if (dots == std::string::npos) return line == pattern;
  if (line.compare(0, dots, pattern, 0, dots) != 0) return false;
  const std::string rest = pattern.substr(dots + any.size());
  for (size_t at = dots; at <= line.size(); ++at) {
    if (Matches(line.substr(at), rest)) return true;
  }
  return false;
}

// The first line of the page that is not where the page shows it; "" where all are. Only "..."
// skips lines.
std::string Missing(const std::string& output, const std::vector<std::string>& lines) {
  std::istringstream text(output);
  std::string printed;
  bool skips = false;
  for (const std::string& line : lines) {
    if (line == "...") {
      skips = true;
      continue;
    }
    bool found = false;
    do {
      if (!std::getline(text, printed)) break;
      found = Matches(printed, line);
    } while (skips && !found);
    if (!found) return line;
    skips = false;
  }
  return skips || !std::getline(text, printed) ? "" : "...";
}

TEST_CASE("the commands of the questions print what the page says") {
  std::ifstream page(RepositoryFile("docs/questions.md"));
  const std::string models = RepositoryFile("tests/models");
  const std::string folder = ScratchFolder("questions");
  const std::vector<Example> examples = Examples(page);
  CHECK(examples.size() == 17);
  for (const Example& example : examples) {
    const std::string command =
        "mkdir -p tests; ln -sfn " + models + " tests/models; " + example.command;
    const CommandResult result = Succeed("cd " + folder + "; " + command);
    INFO(example.command << "\n" << result.out);
    CHECK(Missing(result.out, example.lines) == "");
  }
}

TEST_CASE("lines of the page are looked for in order, with gaps for parts of a line") {
  CHECK(Missing("a 1 x\nb\nc\n", {"a … x", "...", "c"}) == "");
  CHECK(Missing("a 1 x\nb\nc\n", {"a … x", "c", "..."}) == "c");
  CHECK(Missing("a 1 x\nb\nc\n", {"...", "c", "b"}) == "b");
  CHECK(Missing("a 1 x\n", {"a … y"}) == "a … y");
  CHECK(Missing("abc\n", {"ab"}) == "ab");
  CHECK(Missing("a\nb\n", {"a"}) == "...");
}

}  // namespace
}  // namespace yuba
