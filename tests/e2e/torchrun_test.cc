// Ranks of two agents of PyTorch's launcher, as on two hosts but both on 127.0.0.1: each has two of
// four ranks, so that a rank's number among those of its agent is not its number in the job.
#include <netinet/in.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <filesystem>
#include <string>
#include <vector>

#include "nlohmann/json.hpp"
#include "tests/e2e/disturbed_training.h"
#include "tests/e2e/rank_processes.h"
#include "tests/support/command.h"

namespace yuba {
namespace {

constexpr int kRanks = 4;

bool Skips() {
  if (IsThere("torchrun")) return false;
  WARN("SKIP: torchrun is missing");
  return true;
}

// A port of 127.0.0.1 at which nobody listens.
int FreePort() {
  const int file = socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t length = sizeof address;
  REQUIRE(bind(file, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0);
  REQUIRE(getsockname(file, reinterpret_cast<sockaddr*>(&address), &length) == 0);
  close(file);
  return ntohs(address.sin_port);
}

// A line that starts both agents, and ends with the larger of their exit codes.
std::string TwoAgents(const std::string& command, int restarts) {
  const std::string agent =
      "torchrun --nnodes 2 --nproc-per-node 2 --max-restarts " + std::to_string(restarts) +
      " --rdzv-backend c10d --rdzv-id two --rdzv-endpoint 127.0.0.1:" + std::to_string(FreePort()) +
      " --local-addr 127.0.0.1 --no-python " + command;
  return "bash -c \"" + agent + " & one=\\$!; " + agent +
         "; two=\\$?; wait \\$one; one=\\$?; exit \\$((one > two ? one : two))\"";
}

// A training that goes on from where it was.
std::string Line(const DisturbedTraining& training, int steps) {
  return "yuba-run " + training.program() + " --random --interface lo --timeout 20 --steps " +
         std::to_string(steps) + " --save-every 1 --resume latest --save " + training.checkpoint();
}

// What one process leaves after so many steps.
std::string StatesOfOne(const DisturbedTraining& training, int steps) {
  training.Clear();
  Succeed("yuba-run " + training.program() + " --random --steps " + std::to_string(steps) +
          " --save " + training.checkpoint());
  const std::string states = ReadFile(training.checkpoint());
  training.Clear();
  REQUIRE(!states.empty());
  return states;
}

TEST_CASE("ranks of two agents of torchrun have the bits of one process") {
  if (Skips()) return;
  const DisturbedTraining training(kRanks);
  const std::string states = StatesOfOne(training, 20);
  RankProcesses job(TwoAgents(Line(training, 20), 0));
  REQUIRE(job.Find(kRanks).size() == kRanks);
  const int code = job.Await();
  INFO(job.Error());
  REQUIRE(code == 0);
  CHECK((ReadFile(training.checkpoint()) == states));
}

// Kills rank 3, which is number 1 of its agent, once there is a checkpoint.
void KillOne(const DisturbedTraining& training, RankProcesses& job) {
  const std::vector<pid_t> processes = job.Find(kRanks);
  REQUIRE(processes.size() == kRanks);
  for (int look = 0; look < 20000 && !std::filesystem::exists(training.checkpoint()); ++look)
    SleepFor(0.005);
  REQUIRE(kill(processes[3], SIGKILL) == 0);
}

TEST_CASE("a rank of two agents of torchrun that is killed ends all, by name") {
  if (Skips()) return;
  const DisturbedTraining training(kRanks);
  training.Clear();
  RankProcesses job(TwoAgents(Line(training, 1000000), 0));
  KillOne(training, job);
  CHECK(job.Await() != 0);
  INFO(job.Error());
  const nlohmann::json ended = training.Ended();
  REQUIRE(ended.is_object());
  CHECK(ended["rank"] == 3);
  CHECK(Contains(job.Error(), ended["reason"].get<std::string>()));
}

int CountOf(const std::string& text, const std::string& part) {
  int count = 0;
  for (size_t at = text.find(part); at != text.npos; at = text.find(part, at + 1)) ++count;
  return count;
}

TEST_CASE("two agents of torchrun start all ranks again where one is killed, with the same bits") {
  if (Skips()) return;
  constexpr int kSteps = 300;
  const DisturbedTraining training(kRanks);
  const std::string states = StatesOfOne(training, kSteps);
  RankProcesses job(TwoAgents(Line(training, kSteps), 2));
  KillOne(training, job);
  const int code = job.Await();
  INFO(job.Out() << job.Error());
  REQUIRE(code == 0);
  // Rank 0 says so each time that all begin; only the first time there is no checkpoint.
  CHECK(CountOf(job.Out(), "4 devices (host), each a process") >= 2);
  CHECK(CountOf(job.Out(), "step 1 ") <= 1);
  CHECK(Contains(job.Out(), "step " + std::to_string(kSteps) + " "));
  CHECK((ReadFile(training.checkpoint()) == states));
  CHECK(training.Ended().is_null());
}

}  // namespace
}  // namespace yuba
