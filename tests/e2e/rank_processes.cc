#include "tests/e2e/rank_processes.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <thread>

#include "tests/support/command.h"

namespace yuba {
namespace {

constexpr std::chrono::milliseconds kBetweenLooks(5);
constexpr std::chrono::seconds kLongest(120);

std::string Slurp(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

// A variable of a process that has been started; "" where it has none, or has ended.
std::string VariableOf(pid_t process, const std::string& name) {
  const std::string all = '\0' + Slurp("/proc/" + std::to_string(process) + "/environ");
  const size_t found = all.find('\0' + name + "=");
  if (found == all.npos) return "";
  return all.c_str() + found + name.size() + 2;
}

}  // namespace

RankProcesses::RankProcesses(const std::string& line) {
  static int count = 0;
  folder_ = ScratchFolder("ranks" + std::to_string(count++));
  mark_ = folder_ + " of " + std::to_string(getpid());
  const std::string file = folder_ + "/line";
  const std::string tools = RepositoryFile("tools");
  std::ofstream(file) << "export PATH='" << tools << "':\"$PATH\" YUBA_TEST_JOB='" << mark_
                      << "'\nexec " << line << "\n";
  const int out = open((folder_ + "/out").c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
  const int error = open((folder_ + "/error").c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
  REQUIRE(out >= 0);
  REQUIRE(error >= 0);
  launcher_ = fork();
  if (launcher_ == 0) {
    setsid();
    if (dup2(out, STDOUT_FILENO) < 0 || dup2(error, STDERR_FILENO) < 0) _exit(126);
    execl("/bin/bash", "bash", file.c_str(), nullptr);
    _exit(127);
  }
  close(out);
  close(error);
  REQUIRE(launcher_ > 0);
}

RankProcesses::~RankProcesses() {
  for (const pid_t process : Living()) kill(process, SIGKILL);
  if (!ended_) {
    kill(launcher_, SIGKILL);
    waitpid(launcher_, nullptr, 0);
  }
}

std::vector<pid_t> RankProcesses::Living() const {
  std::vector<pid_t> living;
  std::error_code problem;
  for (const auto& entry : std::filesystem::directory_iterator("/proc", problem)) {
    const pid_t process = std::atoi(entry.path().filename().c_str());
    if (process > 0 && VariableOf(process, "YUBA_TEST_JOB") == mark_) living.push_back(process);
  }
  return living;
}

std::vector<pid_t> RankProcesses::Find(int ranks) {
  const auto end = std::chrono::steady_clock::now() + kLongest;
  while (true) {
    std::vector<pid_t> found(ranks, -1);
    int left = ranks;
    for (const pid_t process : Living()) {
      std::string rank;
      for (const std::string name : {"YUBA_RANK", "OMPI_COMM_WORLD_RANK", "PMI_RANK", "RANK"}) {
        if (rank.empty()) rank = VariableOf(process, name);
      }
      if (rank.empty() || std::atoi(rank.c_str()) >= ranks) continue;
      pid_t& known = found[std::atoi(rank.c_str())];
      left -= known < 0 ? 1 : 0;
      known = process;
    }
    if (left == 0) return found;
    if (waitpid(launcher_, &status_, WNOHANG) == launcher_) {
      ended_ = true;
      return {};
    }
    REQUIRE(std::chrono::steady_clock::now() < end);
    std::this_thread::sleep_for(kBetweenLooks);
  }
}

int RankProcesses::Await() {
  const auto end = std::chrono::steady_clock::now() + kLongest;
  while (true) {
    if (!ended_) ended_ = waitpid(launcher_, &status_, WNOHANG) == launcher_;
    const std::vector<pid_t> living = Living();
    if (ended_ && living.empty()) break;
    std::string left;
    for (const pid_t process : living) left += Slurp("/proc/" + std::to_string(process) + "/stat");
    INFO("after two minutes are left:\n" << left << Out() << Error());
    REQUIRE(std::chrono::steady_clock::now() < end);
    std::this_thread::sleep_for(kBetweenLooks);
  }
  return WIFEXITED(status_) ? WEXITSTATUS(status_) : 128 + WTERMSIG(status_);
}

void RankProcesses::AwaitOthers(pid_t process) const {
  const auto end = std::chrono::steady_clock::now() + kLongest;
  while (true) {
    std::vector<pid_t> others = Living();
    const auto is_known = [&](pid_t one) { return one == process || one == launcher_; };
    others.erase(std::remove_if(others.begin(), others.end(), is_known), others.end());
    if (others.empty()) return;
    INFO("after two minutes " << others.size() << " others are left\n" << Out() << Error());
    REQUIRE(std::chrono::steady_clock::now() < end);
    std::this_thread::sleep_for(kBetweenLooks);
  }
}

std::string RankProcesses::Out() const { return Slurp(folder_ + "/out"); }
std::string RankProcesses::Error() const { return Slurp(folder_ + "/error"); }

int64_t MemoryOf(pid_t process, const std::string& row) {
  std::istringstream status(Slurp("/proc/" + std::to_string(process) + "/status"));
  std::string line;
  while (std::getline(status, line)) {
    if (line.rfind(row + ":", 0) == 0) return std::atoll(line.c_str() + row.size() + 1) * 1024;
  }
  return 0;
}

}  // namespace yuba
