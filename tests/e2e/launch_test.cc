// A training that `yuba launch` starts, in which ranks are lost: it goes on by itself, with the
// bits of one that nothing disturbed where no device is given up, and ends for a reason where it
// cannot.
#include <signal.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "nlohmann/json.hpp"
#include "tests/e2e/rank_processes.h"
#include "tests/support/command.h"

namespace yuba {
namespace {

std::string Read(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

bool Contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

int Count(const std::string& text, const std::string& part) {
  int count = 0;
  for (size_t at = text.find(part); at != text.npos; at = text.find(part, at + 1)) ++count;
  return count;
}

void Pause() { std::this_thread::sleep_for(std::chrono::milliseconds(5)); }

// A model, a plan of it for four devices, and a folder in which runs of it write.
class Training {
 public:
  explicit Training(const std::string& name) : folder_(ScratchFolder(name)) {
    Succeed("yuba zoo gpt --layers 1 --width 16 --heads 2 --sequence 32 --vocab 64 --batch 8 -o " +
            File("gpt.onnx"));
    Succeed("yuba partition " + File("gpt.onnx") +
            " --loss softmax-cross-entropy --train adam --lr 0.003 --devices 4 -o " +
            File("plan.json"));
  }

  // A folder of this run's own, and the command line in which it saves there.
  std::string Line(const std::string& out, const std::string& flags) const {
    std::filesystem::create_directories(File(out));
    return "yuba launch " + File("gpt.onnx") + " " + File("plan.json") + " --interface lo --data " +
           RepositoryFile("tests/models/gpt_text") + " --timeout 20 --log " + Log(out) +
           " --save " + States(out) + " " + flags;
  }

  std::string File(const std::string& name) const { return folder_ + "/" + name; }
  std::string States(const std::string& out) const { return File(out) + "/states"; }
  std::string Log(const std::string& out) const { return File(out) + "/log.csv"; }

  // Of each step, as they stand in the log.
  std::vector<std::string> Losses(const std::string& out) const {
    std::istringstream lines(Read(Log(out)));
    std::vector<std::string> losses;
    std::string line, cell;
    for (std::getline(lines, line); std::getline(lines, line);) {
      std::istringstream cells(line);
      std::getline(cells, cell, ',');
      std::getline(cells, cell, ',');
      CHECK(std::stoul(cell) == losses.size() + 1);  // each once, in order
      std::getline(cells, cell, ',');
      losses.push_back(cell);
    }
    return losses;
  }

  // The objects of the file beside the log, by what they are of.
  std::vector<nlohmann::json> Events(const std::string& out, const std::string& event) const {
    std::istringstream lines(Read(Log(out) + ".launch"));
    std::vector<nlohmann::json> events;
    for (std::string line; std::getline(lines, line);) {
      const auto json = nlohmann::json::parse(line);
      if (json["event"] == event) events.push_back(json);
    }
    return events;
  }

 private:
  const std::string folder_;
};

// Waits for a rank that is another process than `old`, 0 where any will do. -1: the launch ended.
pid_t AwaitRank(RankProcesses& job, int ranks, int rank, pid_t old) {
  while (true) {
    const std::vector<pid_t> processes = job.Find(ranks);
    if (processes.empty()) return -1;
    if (processes[rank] != old) return processes[rank];
    Pause();
  }
}

void AwaitStep(const RankProcesses& job, int step) {
  const std::string line = "\nstep " + std::to_string(step) + " ";
  for (int look = 0; look < 20000 && !Contains(job.Out(), line); ++look) Pause();
  REQUIRE(Contains(job.Out(), line));
}

TEST_CASE("300 steps that lose a rank three times have the bits of 300 that lose none") {
  const Training training("launch_three_losses");
  const std::string flags = "--devices 2 --steps 300 ";
  Succeed(training.Line("whole", flags));
  RankProcesses job(training.Line("disturbed", flags + "--save-every 1"));
  AwaitStep(job, 25);
  const pid_t first = AwaitRank(job, 2, 0, 0);
  kill(AwaitRank(job, 2, 1, 0), SIGKILL);
  kill(AwaitRank(job, 2, 0, first), SIGKILL);  // before a step is finished
  // While rank 0 writes a checkpoint: the new one lies beside the one that is in place.
  AwaitStep(job, 60);
  const pid_t writer = AwaitRank(job, 2, 0, 0);
  const auto is_saving = [&] {
    for (const auto& file : std::filesystem::directory_iterator(training.File("disturbed"))) {
      const std::string name = file.path().filename();
      if (name != "states" && !Contains(name, "log.csv") && !Contains(name, "ended")) return true;
    }
    return false;
  };
  for (int look = 0; look < 100000 && !is_saving(); ++look) {
  }
  kill(writer, SIGKILL);
  for (const int step : {120, 180, 240, 300}) AwaitStep(job, step);
  const int code = job.Await();
  INFO(job.Error());
  CHECK(code == 0);
  CHECK((Read(training.States("disturbed")) == Read(training.States("whole"))));
  const std::vector<std::string> losses = training.Losses("disturbed");
  CHECK(losses.size() == 300);
  CHECK(losses == training.Losses("whole"));
  const auto lost = training.Events("disturbed", "lost");
  REQUIRE(lost.size() == 3);
  CHECK(lost[0]["rank"] == 1);
  CHECK(lost[0]["after_step"].get<int>() >= 25);
  CHECK(Contains(lost[1]["reason"].get<std::string>(), "rank 0"));
  CHECK(lost[2]["rank"] == 0);
  for (const auto& event : training.Events("disturbed", "went on")) {
    CHECK(event["devices"] == 2);
    CHECK(event["from_step"].get<int>() >= 24);
  }
  CHECK(training.Events("disturbed", "end").size() == 1);
  CHECK(Contains(job.Error(), ", at the end with 2 devices; "));
  CHECK_FALSE(std::filesystem::exists(training.File("disturbed") + "/ended.json"));
}

TEST_CASE("a device whose rank is lost twice without a step is given up, and the loss stays") {
  const Training training("launch_given_up");
  const std::string flags = "--devices 3 --min-devices 2 --steps 60 --save-every 10";
  Succeed(training.Line("whole", flags));
  RankProcesses job(training.Line("disturbed", flags));
  AwaitStep(job, 25);
  const pid_t first = AwaitRank(job, 3, 1, 0);
  kill(first, SIGKILL);
  kill(AwaitRank(job, 3, 1, first), SIGKILL);
  const int code = job.Await();
  INFO(job.Error());
  CHECK(code == 0);
  CHECK(Contains(job.Error(), "the device of rank 1 of host "));
  CHECK(Contains(job.Error(), "is for 4 devices and was made again for 3"));
  CHECK(Contains(job.Error(), "going on from step 20 with 2 devices"));
  const std::vector<std::string> losses = training.Losses("disturbed"),
                                 expected = training.Losses("whole");
  REQUIRE(losses.size() == 60);
  REQUIRE(expected.size() == 60);
  CHECK(std::equal(losses.begin(), losses.begin() + 20, expected.begin()));
  for (size_t step = 20; step < 60; ++step)
    CHECK(std::stod(losses[step]) == Approx(std::stod(expected[step])).epsilon(1e-5));
  const auto went_on = training.Events("disturbed", "went on");
  REQUIRE(went_on.size() == 1);
  CHECK(went_on[0]["devices"] == 2);
  CHECK(went_on[0]["from_step"] == 20);
}

TEST_CASE("where fewer devices are not allowed a launch ends for a reason, and can be resumed") {
  const Training training("launch_fewest");
  const std::string flags = "--devices 2 --steps 40 --save-every 5";
  Succeed(training.Line("whole", flags));
  RankProcesses job(training.Line("disturbed", flags));
  AwaitStep(job, 12);
  const pid_t first = AwaitRank(job, 2, 1, 0);
  kill(first, SIGKILL);
  kill(AwaitRank(job, 2, 1, first), SIGKILL);
  CHECK(job.Await() == 3);
  INFO(job.Error());
  CHECK(Contains(job.Error(), "--min-devices 2 does not allow 1: ended behind step "));
  CHECK(Contains(job.Error(), "then --resume latest goes on"));
  std::vector<std::string> left;
  for (const auto& file : std::filesystem::directory_iterator(training.File("disturbed")))
    left.push_back(file.path().filename());
  std::sort(left.begin(), left.end());
  CHECK(left == std::vector<std::string>{"ended.json", "log.csv", "log.csv.launch", "states"});
  Succeed(training.Line("disturbed", flags + " --resume latest"));
  CHECK((Read(training.States("disturbed")) == Read(training.States("whole"))));
  CHECK(training.Losses("disturbed") == training.Losses("whole"));
}

TEST_CASE("a launch that is asked to end saves, and one that is killed leaves no process") {
  const Training training("launch_ended");
  const std::string flags = "--devices 2 --min-devices 1 --steps ";
  for (const int signal : {SIGINT, SIGTERM}) {
    RankProcesses job(training.Line("asked", flags + "100000"));
    AwaitStep(job, 3);
    kill(job.launcher(), signal);
    CHECK(job.Await() == 130);
    INFO(job.Error());
    const std::string text = "interrupted after step ";
    const size_t at = job.Error().find(text);
    REQUIRE(at != std::string::npos);
    const std::string step = std::to_string(std::atoll(job.Error().c_str() + at + text.size()));
    CHECK(Contains(Read(training.States("asked")).substr(0, 65536), "\"step\":\"" + step + "\""));
    CHECK_FALSE(Contains(job.Error(), "going on"));
  }
  for (const int step : {0, 3}) {
    RankProcesses job(training.Line("killed", flags + "100000"));
    if (step > 0) AwaitStep(job, step);
    kill(job.launcher(), SIGKILL);
    CHECK(job.Await() == 128 + SIGKILL);  // which waits until all processes have ended
  }
}

TEST_CASE("what would come again ends a launch at once, with its code") {
  const Training training("launch_final");
  const std::string flags = "--devices 2 --min-devices 1 --save-every 1 --steps 5 ";
  const auto ends = [&](const std::string& line, int code, const std::string& reason) {
    const CommandResult result = RunCommand(line);
    INFO(line << "\n" << result.error);
    CHECK(result.exit_code == code);
    CHECK(Contains(result.error, reason));
    CHECK_FALSE(Contains(result.error, "going on"));
  };
  const std::string nan = flags + "--lr-schedule 1e38 --guard nan";
  ends(training.Line("nan", nan), 1, "instruction");
  std::string full = training.Line("full", flags);
  full.replace(full.find(training.Log("full")), training.Log("full").size(), "/dev/full");
  ends(full, 2, "/dev/full");
  ends(training.Line("missing", flags + "--eval " + training.File("none")), 2, "none");
  ends(training.Line("epochs", "--devices 2 --epochs 1 --steps 5 --seed 3"), 2, "--seed");
}

// A step that a run had reached, and how it went on, are measured and in order.
TEST_CASE("a launch without a checkpoint begins again, and not with one of an earlier run") {
  const Training training("launch_anew");
  const std::string flags = "--devices 2 --min-devices 1 --steps ";
  Succeed(training.Line("out", flags + "3"));  // its checkpoint is another run's
  RankProcesses job(training.Line("out", flags + "30"));
  AwaitStep(job, 8);
  kill(AwaitRank(job, 2, 0, 0), SIGKILL);
  const int code = job.Await();
  INFO(job.Error());
  CHECK(code == 0);
  CHECK(Contains(job.Error(), "going on from the beginning with 2 devices"));
  CHECK(Count(job.Out(), "\nstep 1 ") == 2);
  Succeed(training.Line("whole", flags + "30"));
  CHECK((Read(training.States("out")) == Read(training.States("whole"))));
  const auto went_on = training.Events("out", "went on");
  REQUIRE(went_on.size() == 1);
  CHECK(went_on[0]["steps_twice"].get<int>() >= 8);
  CHECK(went_on[0]["seconds"].get<double>() >= went_on[0]["load"].get<double>());
}

}  // namespace
}  // namespace yuba
