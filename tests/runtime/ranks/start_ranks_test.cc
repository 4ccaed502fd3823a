// Processes of `--ranks`: what they are given, how they end, and that none is left.
#include <catch2/catch.hpp>
#include <filesystem>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "absl/strings/str_join.h"
#include "runtime/machine_limits.h"
#include "runtime/ranks/processor_shares.h"
#include "tests/support/command.h"

namespace yuba {
namespace {

const char kWaitFor[] =
    "wait_for() { for i in $(seq 3000); do \"$@\" && return 0; sleep 0.01; done; return 1; }\n"
    // Ended: gone, or not yet taken by its new parent.
    "ended() { ! grep -q '^State:[^Z]*$' /proc/$1/status 2>/dev/null; }\n";

// Runs a script in which $ranks is the program; afterwards no rank and no folder is left.
CommandResult RunScript(const std::string& script, bool leaves_folder = false) {
  static int count = 0;
  const std::string folder = ScratchFolder("ranks" + std::to_string(count++));
  const std::string notes = folder + "/notes", meet = folder + "/meet";
  std::filesystem::create_directories(notes);
  std::filesystem::create_directories(meet);
  CommandResult result =
      RunCommand("export NOTES=" + notes + " TMPDIR=" + meet + "\n" + kWaitFor +
                 "ranks=" + RepositoryFile("tests/runtime/ranks/ranks_for_test") + "\n" + script +
                 "\ncode=$?\n" + "for note in $NOTES/rank*; do read process folder < $note\n" +
                 "  wait_for ended $process || echo $note is left; done\n" + "exit $code");
  CHECK(result.out.find("is left") == std::string::npos);
  CHECK(std::filesystem::is_empty(meet) == !leaves_folder);
  return result;
}

std::set<std::string> LinesOf(const std::string& text) {
  std::set<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.insert(line);
  return lines;
}

TEST_CASE("each rank knows its number, has the same arguments, and the first has the input") {
  const CommandResult result = RunScript("echo typed | YUBA_RANKS=77 $ranks 30 say say say");
  CHECK(result.exit_code == 0);
  CHECK(LinesOf(result.out) == std::set<std::string>{"0 of 3, 5 arguments, input typed",
                                                     "1 of 3, 5 arguments, input none",
                                                     "2 of 3, 5 arguments, input none"});
}

TEST_CASE("ranks run on the processors that they are given") {
  std::set<std::string> shares;
  for (const std::vector<int>& share : runtime::ProcessorShares(runtime::OwnProcessors(), 2)) {
    shares.insert(absl::StrJoin(share, ","));
  }
  if (shares.empty()) {
    WARN("SKIP: there is one processor");
    return;
  }
  const CommandResult result = RunScript("$ranks 30 bound bound");
  CHECK(result.exit_code == 0);
  CHECK(LinesOf(result.out) == shares);
}

TEST_CASE("the code is the first that is not 0, and the others are made to end") {
  CHECK(RunScript("$ranks 30 0 0").exit_code == 0);
  CHECK(RunScript("$ranks 30 0").exit_code == 0);
  CHECK(RunScript("$ranks 30 0 5").exit_code == 5);
  CHECK(RunScript("$ranks 0.05 sleep 4").exit_code == 4);
  CHECK(RunScript("$ranks 0.05 signal stubborn sleep").exit_code == 137);
  // Nobody else has said why.
  CHECK(RunScript("$ranks 0.05 signal sleep").error.find(") was ended by signal 9 (Killed)") !=
        std::string::npos);
  // One that is left behind while it exits is not waited for.
  CHECK(RunScript("$ranks 0.05 0 stubborn").exit_code == 0);
  CHECK(RunScript("(trap '' CHLD; $ranks 0.05 6 sleep)").exit_code == 6);
}

TEST_CASE("signals are passed on") {
  const std::string started = "& parent=$!; wait_for test -e $NOTES/rank0 -a -e $NOTES/rank1; ";
  CHECK(RunScript("$ranks 30 await await " + started + "kill -USR1 $parent; wait $parent")
            .exit_code == 7);
  CHECK(RunScript("$ranks 30 sleep sleep " + started + "kill -TERM $parent; wait $parent")
            .exit_code == 143);
}

TEST_CASE("ranks end with the process that started them, whatever ends it") {
  RunScript(
      "$ranks 30 stubborn stubborn & parent=$!; wait_for test -e $NOTES/rank0 -a -e $NOTES/rank1\n"
      "kill -KILL $parent",
      true);
}

TEST_CASE("what cannot be started is an error, and leaves nothing") {
  const CommandResult none = RunScript("$ranks 30");
  CHECK(none.exit_code == 99);
  CHECK(none.error.find("--ranks 0: at least 1 is needed") != std::string::npos);
  const CommandResult no_folder = RunScript("TMPDIR=/nowhere $ranks 30 0 0");
  CHECK(no_folder.exit_code == 99);
  CHECK(no_folder.error.find("no folder for ranks to meet in") != std::string::npos);
  const CommandResult no_files = RunScript("(ulimit -n 4; $ranks 30 sleep sleep)");
  CHECK(no_files.exit_code == 99);
  CHECK(no_files.error.find("rank 0 of 2 cannot be started: pipe: ") != std::string::npos);
}

}  // namespace
}  // namespace yuba
