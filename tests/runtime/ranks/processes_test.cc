// Processes of one job: where one of them is killed, stopped or hangs, all others end and name it.
#include <signal.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <functional>
#include <string>

#include "tests/runtime/ranks/process_ranks.h"
#include "tests/runtime/ranks/run_job.h"

namespace yuba::runtime {
namespace {

using Catch::Contains;

constexpr int kSize = 4;

// Ranks pass a byte around until `victim` does something to itself in step 5.
std::vector<ProcessOutcome> RunUntil(const JobOptions& options, int victim,
                                     const std::function<void(Job&)>& act) {
  return RunProcesses(kSize, options, [&](Job& job) {
    const int next = (job.rank() + 1) % kSize, last = (job.rank() + kSize - 1) % kSize;
    char byte = 'x';
    for (int64_t step = 1; step < 10; ++step) {
      job.Enter(step, 0);
      if (step == 5 && job.rank() == victim) act(job);
      if (!job.Send(next, {&byte, 1}).ok() || !job.Receive(last, &byte, 1).ok()) return 0;
    }
    return 0;
  });
}

void OthersName(const std::vector<ProcessOutcome>& outcomes, int victim, const std::string& text) {
  for (int rank = 0; rank < kSize; ++rank) {
    if (rank == victim) continue;
    INFO("rank " << rank);
    CHECK(outcomes[rank].code == 3);
    CHECK_THAT(outcomes[rank].ended,
               Contains("rank " + std::to_string(victim) + " (host host" + std::to_string(victim) +
                        ", process 10" + std::to_string(victim) + ") " + text));
  }
}

TEST_CASE("without a fault all end well") {
  for (const ProcessOutcome& outcome : RunUntil(Long(), -1, nullptr)) {
    CHECK(outcome.code == 0);
    CHECK(outcome.ended.empty());
  }
}

TEST_CASE("a rank that is killed is lost") {
  for (int victim = 0; victim < kSize; ++victim) {
    const auto outcomes = RunUntil(Long(), victim, [](Job&) { kill(getpid(), SIGKILL); });
    CHECK(outcomes[victim].code == 137);
    OthersName(outcomes, victim, "is lost: ");
  }
}

TEST_CASE("a rank that is stopped is lost") {
  JobOptions options = Short();
  options.timeout_seconds = 60;
  for (int victim = 0; victim < kSize; ++victim) {
    const auto outcomes = RunUntil(options, victim, [](Job&) { kill(getpid(), SIGSTOP); });
    CHECK(outcomes[victim].code == 137);
    OthersName(outcomes, victim,
               "is lost: no word of it has come for 0.8 s; it was last heard of ");
  }
}

TEST_CASE("a rank that hangs ends with the others") {
  JobOptions options = Short();
  options.silence_seconds = 60;
  for (int victim = 0; victim < kSize; ++victim) {
    const auto outcomes = RunUntil(options, victim, [](Job& job) {
      while (job.ended().ok()) usleep(1000);
    });
    CHECK(outcomes[victim].code == 3);
    OthersName(outcomes, victim, "has not got on for 0.4 s; it is in step 5, instruction 0");
  }
}

TEST_CASE("a rank that fails and is gone at once is not merely lost") {
  for (int victim = 0; victim < kSize; ++victim) {
    const auto outcomes = RunUntil(Long(), victim, [](Job& job) {
      job.Fail(absl::InternalError("no space on the disk"));
      _exit(job.Leave(3));
    });
    OthersName(outcomes, victim, "in step 5, instruction 0: no space on the disk");
  }
}

}  // namespace
}  // namespace yuba::runtime
