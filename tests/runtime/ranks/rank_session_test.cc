// Sessions of which each has one device of a program, against a session that has all: the same bits
// in every buffer, and the same counts of what moves.
#include <catch2/catch.hpp>
#include <random>
#include <string>
#include <vector>

#include "opsemantics/base/status.h"
#include "tests/runtime/exchange_programs.h"
#include "tests/runtime/program_builder.h"
#include "tests/runtime/ranks/rank_results.h"
#include "tests/runtime/ranks/run_job.h"
#include "tests/support/status_matchers.h"

namespace yuba::runtime {
namespace {

void RequireEqual(const std::shared_ptr<const LoadedProgram>& program) {
  RunOptions options;
  options.poison = true;
  const std::vector<StepsResult> ranks =
      RunRanks(program, FactsOfRanks(program->devices()), options, 2);
  for (int device = 0; device < program->devices(); ++device) {
    INFO("device " << device);
    const StepsResult alone = RunSteps(program, options, device, 2);
    REQUIRE_THAT(alone.status, IsOk());
    REQUIRE_THAT(ranks[device].status, IsOk());
    REQUIRE(ranks[device] == alone);
  }
}

TEST_CASE("ranks gather the same boxes as devices of one process") {
  std::mt19937 random(1);
  for (int round = 0; round < 60; ++round) RequireEqual(RandomGather(random, 2).program);
}

TEST_CASE("ranks combine partials in the same order as devices of one process") {
  std::mt19937 random(2);
  for (int round = 0; round < 60; ++round) RequireEqual(RandomSum(random, 2).program);
}

TEST_CASE("a value is set and gathered by all ranks, or by the first alone") {
  const auto program = ExchangeChain();
  std::vector<std::string> everywhere(4), first(4);
  LocalNetwork network(4);
  RunJob(network, FactsOfRanks(4), Long(), [&](Job& job) {
    RunOptions options;
    options.job = &job;
    auto session = Session::Open(program, options);
    if (!session.ok() || !(*session)->Set("x", Ramp()).ok() || !(*session)->Step().ok()) return 3;
    const auto of_all = (*session)->Get("x");
    const auto of_first = (*session)->Get("x", Gathered::kByFirstRank);
    if (!of_all.ok() || !of_first.ok()) return 3;
    everywhere[job.rank()] = of_all->data;
    first[job.rank()] = of_first->data;
    return 0;
  });
  auto alone = OpenSession(program);
  REQUIRE_THAT(alone->Set("x", Ramp()), IsOk());
  REQUIRE_THAT(alone->Step(), IsOk());
  const std::string expected = alone->Get("x")->data;
  CHECK(everywhere == std::vector<std::string>(4, expected));
  CHECK(first == std::vector<std::string>{expected, "", "", ""});
}

TEST_CASE("a rank that fails ends the step on all, for its reason") {
  const auto program = ExchangeChain();
  std::vector<absl::Status> statuses(4);
  LocalNetwork network(4);
  RunJob(network, FactsOfRanks(4), Long(), [&](Job& job) {
    RunOptions options;
    options.job = &job;
    auto session = Session::Open(program, options);
    absl::Status& status = statuses[job.rank()];
    status = session.status();
    if (status.ok()) status = (*session)->Set("x", Ramp());
    if (status.ok()) status = (*session)->Step();
    if (job.rank() == 2) {
      job.Fail(InternalError("the fan is off"));
      return 3;
    }
    if (status.ok()) status = (*session)->Step();
    return 3;
  });
  for (int rank : {0, 1, 3}) {
    CHECK_THAT(statuses[rank], StatusIs(absl::StatusCode::kInternal, "the fan is off"));
  }
}

TEST_CASE("a job must have a rank for each device") {
  const auto program = ExchangeChain();
  std::vector<absl::Status> opened(2);
  LocalNetwork network(2);
  RunJob(network, FactsOfRanks(2), Long(), [&](Job& job) {
    RunOptions options;
    options.job = &job;
    opened[job.rank()] = Session::Open(program, options).status();
    return 2;
  });
  for (const absl::Status& status : opened) {
    CHECK_THAT(status, StatusIs(absl::StatusCode::kInvalidArgument,
                                "the program is for 4 devices, and test has started 2 ranks"));
  }
}

}  // namespace
}  // namespace yuba::runtime
