// A training of several ranks in which something goes wrong at a moment that is chosen: while a
// checkpoint is written, before what started the ranks has seen them end, where the disk is full.
// Random moments are in random_faults_test.cc.
#include <signal.h>

#include <catch2/catch.hpp>
#include <cstdlib>
#include <filesystem>
#include <iterator>
#include <string>
#include <vector>

#include "tests/e2e/disturbed_training.h"
#include "tests/e2e/rank_processes.h"
#include "tests/support/command.h"

namespace yuba {
namespace {

TEST_CASE("rank 0 is killed while it writes a checkpoint") {
  const DisturbedTraining training(2);
  for (int step = 1; step < 4; ++step) {
    training.Clear();
    RankProcesses job(training.Disturbed());
    const std::vector<pid_t> processes = job.Find(2);
    REQUIRE(processes.size() == 2);
    // The new checkpoint lies beside the one that is in place.
    bool beside = false;
    for (int look = 0; look < 100000 && !beside; ++look) {
      const auto files = std::filesystem::directory_iterator(training.out());
      beside = std::distance(begin(files), end(files)) >= (step > 1 ? 2 : 1);
    }
    kill(processes[0], SIGKILL);
    CheckEnd(training, job, Accident::kKilled, 0);
  }
}

TEST_CASE("what started the ranks is killed") {
  const DisturbedTraining training(2);
  for (const double part : {0.0, 0.3, 0.8}) {
    training.Clear();
    RankProcesses job(training.Disturbed());
    REQUIRE(job.Find(2).size() == 2);
    SleepFor(part * training.seconds());
    kill(job.launcher(), SIGKILL);
    const int code = job.Await();
    CHECK((code == 128 + SIGKILL || code == 0));
    training.GoesOn();
  }
}

TEST_CASE("a full disk ends all ranks, and leaves the checkpoint before it") {
  const DisturbedTraining training(2);
  training.Clear();
  Succeed(training.Line("--save " + training.checkpoint(), 2));
  const std::string before = ReadFile(training.checkpoint());
  // So many blocks of 1024 bytes that a file may have.
  const CommandResult run =
      RunCommand("ulimit -f 400; " + training.Disturbed() + " --resume " + training.checkpoint());
  INFO(run.error);
  CHECK(run.exit_code == 2);
  CHECK(Contains(run.error, training.checkpoint()));
  CHECK((ReadFile(training.checkpoint()) == before));
  CHECK(training.Ended()["rank"] == 0);
  training.GoesOn();
  const CommandResult full =
      RunCommand(training.Line("--log /dev/full --timeout 4 --save " + training.checkpoint()));
  INFO(full.error);
  CHECK(full.exit_code == 2);
  CHECK(Contains(full.error, "/dev/full"));
  const CommandResult printed = RunCommand(training.Line("--timeout 4 > /dev/full"));
  INFO(printed.error);
  CHECK(printed.exit_code == 2);
  CHECK(Contains(printed.error, "the output cannot be written"));
}

TEST_CASE("a rank that is asked to end ends all after one step, saved") {
  const DisturbedTraining training(2);
  for (const int signal : {SIGTERM, SIGUSR1, SIGINT}) {
    for (const int rank : {0, 1}) {
      INFO("signal " << signal << " to rank " << rank);
      training.Clear();
      RankProcesses job("yuba-run " + training.program() +
                        " --random --interface lo --ranks 2 --steps 1000000 --save-every 1 "
                        "--timeout 4 --save " +
                        training.checkpoint());
      const std::vector<pid_t> processes = job.Find(2);
      REQUIRE(processes.size() == 2);
      for (int look = 0; look < 20000 && !Contains(job.Out(), "\nstep 2"); ++look) SleepFor(0.005);
      kill(processes[rank], SIGCONT);  // changes nothing
      kill(processes[rank], signal);
      CHECK(job.Await() == 130);
      const std::string text = "interrupted after step ";
      const std::string error = job.Error();
      INFO(error);
      const size_t at = error.find(text);
      REQUIRE(at != error.npos);
      const std::string step = std::to_string(std::atoll(error.c_str() + at + text.size()));
      CHECK(
          Contains(ReadFile(training.checkpoint()).substr(0, 65536), "\"step\":\"" + step + "\""));
    }
  }
}

TEST_CASE("a run that is asked to end at its very beginning was interrupted") {
  const DisturbedTraining training(2);
  for (const double moment : {0.0, 0.05, 0.2}) {
    training.Clear();
    RankProcesses job(training.Line("--timeout 4 --save " + training.checkpoint(), 1000000));
    REQUIRE(job.Find(2).size() == 2);
    SleepFor(moment);
    kill(job.launcher(), SIGINT);
    CHECK(job.Await() == 130);
    INFO(job.Error());
    CHECK(Contains(job.Error(), "interrupted "));
    CHECK(training.Ended()["rank"].is_null());
  }
}

TEST_CASE("a rank that is stopped for less than the limit goes on, and SIGCONT changes nothing") {
  const DisturbedTraining training(2);
  for (const int rank : {0, 1}) {
    training.Clear();
    RankProcesses job(training.Disturbed());
    const std::vector<pid_t> processes = job.Find(2);
    REQUIRE(processes.size() == 2);
    for (int i = 0; i < 4; ++i) {
      SleepFor(training.seconds() / 6);
      kill(processes[rank], SIGSTOP);
      SleepFor(0.3);
      kill(processes[rank], SIGCONT);
    }
    const int code = job.Await();
    INFO(job.Error());
    CHECK(code == 0);
    training.IsComplete(job.Out());
  }
}

TEST_CASE("no rank takes the standard input away") {
  const DisturbedTraining training(2);
  training.Clear();
  const std::string line = training.Line("--timeout 30 > " + training.out() + "/text");
  CHECK(Succeed("(echo kept) | { " + line + "; cat; }").out == "kept\n");
}

}  // namespace
}  // namespace yuba
