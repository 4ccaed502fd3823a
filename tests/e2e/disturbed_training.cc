#include "tests/e2e/disturbed_training.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <thread>

#include "tests/support/command.h"

namespace yuba {
namespace {

// As they are printed, which is without loss.
std::vector<std::string> LossesOf(const std::string& json) {
  const auto parsed = nlohmann::json::parse(json, nullptr, false);
  REQUIRE(parsed.is_object());
  std::vector<std::string> losses;
  if (!parsed.contains("numbers")) return losses;
  for (const auto& loss : parsed["numbers"]["loss"]) losses.push_back(loss.dump());
  return losses;
}

}  // namespace

std::string ReadFile(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

bool Contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

void SleepFor(double seconds) {
  std::this_thread::sleep_for(std::chrono::duration<double>(seconds));
}

DisturbedTraining::DisturbedTraining(int ranks) : ranks_(ranks), folder_(ScratchFolder("faults")) {
  const std::string model = RepositoryFile("tests/models/gpt") + "/model.onnx";
  Succeed("yuba partition " + model + " --train adam --loss softmax-cross-entropy --devices " +
          std::to_string(ranks) + " -o " + folder_ + "/plan.json");
  Succeed("yuba compile " + model + " " + folder_ + "/plan.json -o " + program());
  const auto start = std::chrono::steady_clock::now();
  const CommandResult run = Succeed(Line("--json --save " + folder_ + "/undisturbed"));
  seconds_ = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  losses_ = LossesOf(run.out);
  REQUIRE(losses_.size() == kTrainingSteps);
  states_ = ReadFile(folder_ + "/undisturbed");
  Clear();
}

std::string DisturbedTraining::Steps(int steps) const {
  return "yuba-run " + program() + " --random --steps " + std::to_string(steps) + " ";
}

std::string DisturbedTraining::Line(const std::string& flags, int steps) const {
  return Steps(steps) + "--interface lo --ranks " + std::to_string(ranks_) + " " + flags;
}

std::string DisturbedTraining::Disturbed(int steps) const {
  return Line("--save-every 1 --timeout 4 --json --save " + checkpoint(), steps);
}

std::string DisturbedTraining::UnderMpirun(const std::string& options, int steps) const {
  return kMpirun + options + " -n " + std::to_string(ranks_) + " " + Steps(steps) +
         "--save-every 1 --timeout 4 --json --save " + checkpoint();
}

void DisturbedTraining::Clear() const {
  std::filesystem::remove_all(out());
  std::filesystem::create_directories(out());
}

nlohmann::json DisturbedTraining::Ended() const {
  const std::string text = ReadFile(out() + "/ended.json");
  return text.empty() ? nlohmann::json() : nlohmann::json::parse(text);
}

void DisturbedTraining::GoesOn() const {
  const bool begun = std::filesystem::exists(checkpoint());
  const CommandResult run = RunCommand(
      Line("--json --save " + out() + "/end" + (begun ? " --resume " + checkpoint() : "")));
  INFO(run.error);
  if (begun && Contains(run.error, std::to_string(kTrainingSteps) + " steps of it are done")) {
    CHECK((ReadFile(checkpoint()) == states_));
    return;
  }
  REQUIRE(run.exit_code == 0);
  CHECK_FALSE(std::filesystem::exists(out() + "/ended.json"));
  std::vector<std::string> losses = LossesOf(run.out);
  REQUIRE(losses.size() <= losses_.size());
  CHECK(std::equal(losses.rbegin(), losses.rend(), losses_.rbegin()));
  if (!losses.empty()) CHECK((ReadFile(out() + "/end") == states_));
}

void DisturbedTraining::IsComplete(const std::string& json) const {
  CHECK(LossesOf(json) == losses_);
  CHECK((ReadFile(checkpoint()) == states_));
}

void CheckEnd(const DisturbedTraining& training, RankProcesses& job, Accident accident, int rank) {
  const int code = job.Await();
  const nlohmann::json ended = training.Ended();
  INFO("exit code " << code << "\n" << job.Error());
  if (code == 0) {
    training.IsComplete(job.Out());
    CHECK(ended.is_null());
    training.GoesOn();
    return;
  }
  REQUIRE(ended.is_object());
  const std::string reason = ended["reason"];
  CHECK(Contains(job.Error(), reason));
  CHECK(ended["exit_code"] == code);
  if (code == 130) {
    CHECK(accident == Accident::kAsked);
    CHECK(Contains(job.Error(), "interrupted after step "));
  } else if (accident == Accident::kFull) {
    CHECK(code == 2);
    CHECK(ended["rank"] == rank);
    CHECK(Contains(reason, training.out()));
  } else {
    CHECK(code == 3);
    // Of a connection that is closed nobody knows which end is to blame; nor, while ranks meet,
    // who.
    CHECK(Contains(reason, "rank " + (accident == Accident::kClosed ? "" : std::to_string(rank))));
    if (accident != Accident::kClosed && !ended["rank"].is_null()) CHECK(ended["rank"] == rank);
  }
  training.GoesOn();
}

}  // namespace yuba
