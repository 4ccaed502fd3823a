// The part of `tools/gpu_check` for ranks that are killed or stopped, on processors: what the
// others say, what is noticed, and that it keeps to the limit.
#include <catch2/catch.hpp>
#include <filesystem>
#include <string>

#include "nlohmann/json.hpp"
#include "tests/support/command.h"
#include "tests/tools/gpu_bundle.h"

namespace yuba {
namespace {

using Catch::Contains;

constexpr char kLost[] = "^lost: (KILL soon|STOP later).* on 2";

TEST_CASE("a rank that is killed or stopped is named by the others, with an instruction") {
  const Bundle bundle("host", kLost);
  const CommandResult ran = bundle.Check();
  INFO(ran.out << ran.error);
  CHECK(ran.exit_code == 0);
  CHECK_THAT(ran.out, Contains("| lost | 2 | 0 | 0 |"));
  CHECK_THAT(ran.out, Contains("## Ranks\n\nRanks that were lost"));
  const nlohmann::json report = Read(bundle.scratch + "/report/report.json");
  const auto said = [&](const std::string& name) {
    return ResultOf(report, name)["said"].get<std::string>();
  };
  CHECK_THAT(said("lost: KILL soon after the start, training gpt f32 on 2"),
             Contains("rank 0 (") && Contains("is lost: ") && Contains(", instruction "));
  CHECK_THAT(said("lost: STOP later, training gpt f32 on 2"),
             Contains("rank 0 (") && Contains("is lost: no word of it has come for 10 s") &&
                 Contains("rank 1 (") && Contains("waits for it in step "));
}

TEST_CASE("a job that ends for another reason, or does not name the lost rank, is a failure") {
  const Bundle bundle("host", kLost);
  nlohmann::json packed = Read(bundle.folder + "/cases.json");
  bundle.Case(packed, "lost: KILL soon after the start, training gpt f32 on 2")["signal"] = "TERM";
  bundle.Case(packed, "lost: STOP later, training gpt f32 on 2")["run"] = {"--random", "--steps",
                                                                           "2"};
  Write(bundle.folder + "/cases.json", packed.dump());
  const CommandResult ran = bundle.Check();
  INFO(ran.out << ran.error);
  CHECK(ran.exit_code == 1);
  CHECK_THAT(ran.out, Contains("| lost | 0 | 2 | 0 |"));
  CHECK_THAT(ran.out, Contains("training gpt f32 on 2: exit 130, and not that rank 0 is lost: "));
  CHECK_THAT(ran.out, Contains("training gpt f32 on 2: ended before: "));
}

TEST_CASE("no rank is killed or stopped where the time may not suffice for the others to end") {
  const Bundle bundle("host", kLost);
  bundle.Wrap("echo \"$*\" >> " + bundle.scratch + "/lines\nexec sleep 1000");
  for (const std::string minutes : {"0.7", "0.8"}) {  // for what follows the start, 45.3 s are kept
    INFO(minutes);
    const CommandResult ran = bundle.Check("--minutes " + minutes);
    INFO(ran.out << ran.error);
    CHECK(ran.exit_code == 1);
    CHECK_THAT(ran.out, Contains("| lost | 0 | 0 | 2 |"));
    if (minutes == "0.7") CHECK_FALSE(std::filesystem::exists(bundle.scratch + "/lines"));
  }
}

// Of these cases, whose ranks would fail there, a run goes on for ever; the time does not suffice
// for them.
TEST_CASE("whether there is a GPU is seen by one step, whatever the first case is") {
#ifndef YUBA_WITH_CUDA
  WARN("SKIP: built without CUDA");
  return;
#endif
  const Bundle bundle("cuda", "^lost: KILL later.* on 2");
  const std::string stubs = StubFolder();
  bundle.Wrap("echo \"$*\" >> " + bundle.scratch + "/lines\nexec $RUN \"$@\"");
  const CommandResult ran =
      bundle.Check("--minutes 0.7", "PATH=" + stubs + ":$PATH LD_LIBRARY_PATH=" + stubs + " ");
  INFO(ran.out << ran.error);
  CHECK_THAT(ran.out, Contains("| lost | 0 | 0 | 1 |"));
  const std::string lines = Succeed("cat " + bundle.scratch + "/lines").out;
  CHECK_THAT(lines, Contains(" --random --ranks 1\n") && !Contains("--steps"));
}

}  // namespace
}  // namespace yuba
