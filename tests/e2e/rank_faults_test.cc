// A training of several ranks in which something goes wrong: at any moment a rank, or what started
// it, is killed, stopped or asked to end, or the disk is full. All processes end, for a reason that
// names the rank; the checkpoint that is in place is whole; and going on from it gives the bits of
// a run that nothing disturbed.
#include <signal.h>

#include <catch2/catch.hpp>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "nlohmann/json.hpp"
#include "tests/e2e/rank_processes.h"
#include "tests/support/command.h"
#include "tests/support/part.h"

namespace yuba {
namespace {

constexpr int kSteps = 12;

std::string Read(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

bool Contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

bool IsThere(const std::string& program) {
  return std::system(("command -v " + program + " > /dev/null 2>&1").c_str()) == 0;
}

// A program that trains on so many ranks, and what an undisturbed run of it comes to.
class Training {
 public:
  explicit Training(int ranks) : ranks_(ranks), folder_(ScratchFolder("faults")) {
    const std::string model = RepositoryFile("tests/models/gpt") + "/model.onnx";
    Succeed("yuba partition " + model + " --train adam --loss softmax-cross-entropy --devices " +
            std::to_string(ranks) + " -o " + folder_ + "/plan.json");
    Succeed("yuba compile " + model + " " + folder_ + "/plan.json -o " + program());
    const auto start = std::chrono::steady_clock::now();
    const CommandResult run = Succeed(Line("--json --save " + folder_ + "/undisturbed"));
    seconds_ = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    losses_ = LossesOf(run.out);
    REQUIRE(losses_.size() == kSteps);
    states_ = Read(folder_ + "/undisturbed");
    Clear();
  }

  int ranks() const { return ranks_; }
  double seconds() const { return seconds_; }  // of a whole run, for a choice of moments
  std::string program() const { return folder_ + "/program.yuba"; }
  std::string out() const { return folder_ + "/out"; }  // a folder of each run's own
  std::string checkpoint() const { return out() + "/states"; }

  std::string Line(const std::string& flags, int steps = kSteps) const {
    return "yuba-run " + program() + " --random --interface lo --ranks " + std::to_string(ranks_) +
           " --steps " + std::to_string(steps) + " " + flags;
  }
  // Saves after each step, and gives up soon.
  std::string Disturbed() const {
    return Line("--save-every 1 --timeout 4 --json --save " + checkpoint());
  }

  void Clear() const {
    std::filesystem::remove_all(out());
    std::filesystem::create_directories(out());
  }

  nlohmann::json Ended() const {
    const std::string text = Read(out() + "/ended.json");
    return text.empty() ? nlohmann::json() : nlohmann::json::parse(text);
  }

  // Goes on from the checkpoint, or begins where there is none.
  void GoesOn() const {
    const bool begun = std::filesystem::exists(checkpoint());
    const CommandResult run = RunCommand(
        Line("--json --save " + out() + "/end" + (begun ? " --resume " + checkpoint() : "")));
    INFO(run.error);
    if (begun && Contains(run.error, "12 steps of it are done")) {
      CHECK((Read(checkpoint()) == states_));
      return;
    }
    REQUIRE(run.exit_code == 0);
    CHECK_FALSE(std::filesystem::exists(out() + "/ended.json"));
    std::vector<std::string> losses = LossesOf(run.out);
    REQUIRE(losses.size() <= losses_.size());
    CHECK(std::equal(losses.rbegin(), losses.rend(), losses_.rbegin()));
    if (!losses.empty()) CHECK((Read(out() + "/end") == states_));
  }

  // That a run came to its end, undisturbed.
  void IsComplete(const std::string& json) const {
    CHECK(LossesOf(json) == losses_);
    CHECK((Read(checkpoint()) == states_));
  }

 private:
  // As they are printed, which is without loss.
  static std::vector<std::string> LossesOf(const std::string& json) {
    const auto parsed = nlohmann::json::parse(json, nullptr, false);
    REQUIRE(parsed.is_object());
    std::vector<std::string> losses;
    if (!parsed.contains("numbers")) return losses;
    for (const auto& loss : parsed["numbers"]["loss"]) losses.push_back(loss.dump());
    return losses;
  }

  const int ranks_;
  const std::string folder_;
  double seconds_ = 0;
  std::vector<std::string> losses_;
  std::string states_;
};

void Sleep(double seconds) { std::this_thread::sleep_for(std::chrono::duration<double>(seconds)); }

// After a signal to a rank, which may have been too late.
void CheckEnd(const Training& training, RankProcesses& job, int rank, int signal) {
  const int code = job.Await();
  INFO("exit code " << code << "\n" << job.Error());
  if (code == 0) {
    training.IsComplete(job.Out());
    CHECK(training.Ended().is_null());
  } else {
    const nlohmann::json ended = training.Ended();
    REQUIRE(ended.is_object());
    CHECK(Contains(job.Error(), ended["reason"].get<std::string>()));
    if (code == 130) {
      CHECK(signal == SIGTERM);
      CHECK(Contains(job.Error(), "interrupted after step "));
    } else {
      CHECK(code == 3);
      CHECK(Contains(job.Error(), "rank " + std::to_string(rank)));
      if (!ended["rank"].is_null()) CHECK(ended["rank"] == rank);
    }
    CHECK(ended["exit_code"] == code);
  }
  training.GoesOn();
}

// Signals at moments of the whole run, start and end too.
void DisturbAtRandom(int ranks, int times, int seed) {
  const Training training(ranks);
  std::mt19937 random(seed);
  const std::vector<int> signals = {SIGKILL, SIGTERM, SIGKILL, SIGSTOP};
  for (int i = 0; i < times; ++i) {
    const int signal = signals[random() % signals.size()];
    const int rank = static_cast<int>(random() % ranks);
    const double moment = 1.1 * training.seconds() * static_cast<double>(random() % 1000) / 1000;
    INFO("time " << i << ": signal " << signal << " to rank " << rank << " after " << moment);
    training.Clear();
    RankProcesses job(training.Disturbed());
    const std::vector<pid_t> processes = job.Find(ranks);
    REQUIRE(static_cast<int>(processes.size()) == ranks);
    Sleep(moment);
    kill(processes[rank], signal);
    CheckEnd(training, job, rank, signal);
  }
}

TEST_CASE("two ranks, of which one gets a signal at some moment") {
  DisturbAtRandom(2, TriesAll() ? 14 : 5, 1);
}
TEST_CASE("four ranks, of which one gets a signal at some moment") {
  DisturbAtRandom(4, TriesAll() ? 6 : 3, 2);
}

TEST_CASE("rank 0 is killed while it writes a checkpoint") {
  const Training training(2);
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
    CheckEnd(training, job, 0, SIGKILL);
  }
}

TEST_CASE("what started the ranks is killed") {
  const Training training(2);
  for (const double part : {0.0, 0.3, 0.8}) {
    training.Clear();
    RankProcesses job(training.Disturbed());
    REQUIRE(job.Find(2).size() == 2);
    Sleep(part * training.seconds());
    kill(job.launcher(), SIGKILL);
    const int code = job.Await();
    CHECK((code == 128 + SIGKILL || code == 0));
    training.GoesOn();
  }
}

TEST_CASE("a full disk ends all ranks, and leaves the checkpoint before it") {
  const Training training(2);
  training.Clear();
  Succeed(training.Line("--save " + training.checkpoint(), 2));
  const std::string before = Read(training.checkpoint());
  // So many blocks of 1024 bytes that a file may have.
  const CommandResult run =
      RunCommand("ulimit -f 400; " + training.Disturbed() + " --resume " + training.checkpoint());
  INFO(run.error);
  CHECK(run.exit_code == 2);
  CHECK(Contains(run.error, training.checkpoint()));
  CHECK((Read(training.checkpoint()) == before));
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
  const Training training(2);
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
      for (int look = 0; look < 20000 && !Contains(job.Out(), "\nstep 2"); ++look) Sleep(0.005);
      kill(processes[rank], SIGCONT);  // changes nothing
      kill(processes[rank], signal);
      CHECK(job.Await() == 130);
      const std::string text = "interrupted after step ";
      const std::string error = job.Error();
      INFO(error);
      const size_t at = error.find(text);
      REQUIRE(at != error.npos);
      const std::string step = std::to_string(std::atoll(error.c_str() + at + text.size()));
      CHECK(Contains(Read(training.checkpoint()).substr(0, 65536), "\"step\":\"" + step + "\""));
    }
  }
}

TEST_CASE("a rank that is stopped for less than the limit goes on, and SIGCONT changes nothing") {
  const Training training(2);
  for (const int rank : {0, 1}) {
    training.Clear();
    RankProcesses job(training.Disturbed());
    const std::vector<pid_t> processes = job.Find(2);
    REQUIRE(processes.size() == 2);
    for (int i = 0; i < 4; ++i) {
      Sleep(training.seconds() / 6);
      kill(processes[rank], SIGSTOP);
      Sleep(0.3);
      kill(processes[rank], SIGCONT);
    }
    const int code = job.Await();
    INFO(job.Error());
    CHECK(code == 0);
    training.IsComplete(job.Out());
  }
}

TEST_CASE("no rank takes the standard input away") {
  const Training training(2);
  training.Clear();
  const std::string line = training.Line("--timeout 30 > " + training.out() + "/text");
  CHECK(Succeed("(echo kept) | { " + line + "; cat; }").out == "kept\n");
}

// mpirun ends all when one is killed; a rank that is stopped is found by us.
TEST_CASE("under mpirun no rank is left either") {
  if (!IsThere("mpirun.openmpi")) {
    WARN("SKIP: mpirun.openmpi is missing");
    return;
  }
  const Training training(2);
  const std::string line =
      "env OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 "
      "OMPI_MCA_btl_tcp_if_include=lo "
      "OMPI_MCA_oob_tcp_if_include=lo mpirun.openmpi --oversubscribe -n 2 yuba-run " +
      training.program() + " --random --steps " + std::to_string(kSteps) +
      " --save-every 1 --timeout 4 --json --save " + training.checkpoint();
  std::mt19937 random(3);
  for (int i = 0; i < 6; ++i) {
    const int signal = i % 3 == 0 ? SIGSTOP : SIGKILL;
    const int rank = static_cast<int>(random() % 2);
    training.Clear();
    RankProcesses job(line);
    const std::vector<pid_t> processes = job.Find(2);
    REQUIRE(processes.size() == 2);
    const double moment = 1.2 * training.seconds() * static_cast<double>(random() % 1000) / 1000;
    Sleep(moment);
    kill(processes[rank], signal);
    const int code = job.Await();
    INFO("signal " << signal << " to rank " << rank << " after " << moment << "\n" << job.Error());
    if (code == 0) training.IsComplete(job.Out());
    training.GoesOn();
  }
}

}  // namespace
}  // namespace yuba
