// Starts ranks of itself, each of which does one thing: ranks_for_test GRACE ACTION..., an action a
// rank.
//   NUMBER        ends with this code
//   signal        ends by SIGKILL
//   sleep         is there until it is ended
//   stubborn      so too, and ignores SIGTERM
//   await         ends with 7 when SIGUSR1 comes
//   say           writes what it was given
//   bound         writes on which processors it may run; ranks have shares of them then
// Each first makes a file "rank<N>" of its process number in the folder $NOTES.
#include <signal.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <string>

#include "absl/strings/str_join.h"
#include "runtime/machine_limits.h"
#include "runtime/ranks/launcher.h"
#include "runtime/ranks/processor_shares.h"
#include "runtime/ranks/start_ranks.h"

namespace yuba::runtime {
namespace {

void Say(int argc) {
  std::string line, input = "none";
  if (std::filesystem::read_symlink("/proc/self/fd/0") != "/dev/null") {
    input.clear();
    while (std::getline(std::cin, line)) input += line;
  }
  const std::string text = std::string(std::getenv(kRankVariable)) + " of " +
                           std::getenv(kRanksVariable) + ", " + std::to_string(argc) +
                           " arguments, input " + input +
                           (getpgrp() == getpid() ? "" : ", no group") + "\n";
  std::cout << text << std::flush;
  std::ofstream(std::string(std::getenv(kMeetVariable)) + "/left" + std::getenv(kRankVariable));
}

int Act(const std::string& action, int argc) {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGUSR1);
  sigprocmask(SIG_BLOCK, &signals, nullptr);
  if (action == "stubborn") signal(SIGTERM, SIG_IGN);
  const std::string name = std::string(std::getenv("NOTES")) + "/rank" + std::getenv(kRankVariable);
  std::ofstream(name + ".part") << getpid() << " " << std::getenv(kMeetVariable) << "\n";
  std::rename((name + ".part").c_str(), name.c_str());
  if (action == "signal") raise(SIGKILL);
  if (action == "say") Say(argc);
  if (action == "bound") std::cout << absl::StrJoin(OwnProcessors(), ",") << "\n" << std::flush;
  int signal = 0;
  if (action == "await" && sigwait(&signals, &signal) == 0) return 7;
  while (action == "sleep" || action == "stubborn") pause();
  return std::atoi(action.c_str());
}

}  // namespace
}  // namespace yuba::runtime

int main(int argc, char** argv) {
  const char* const rank = std::getenv(yuba::runtime::kRankVariable);
  if (rank != nullptr) return yuba::runtime::Act(argv[2 + std::atoi(rank)], argc);
  const yuba::runtime::HeldSignals signals;
  yuba::runtime::StartOptions options;
  options.grace_seconds = std::atof(argv[1]);
  if (argc > 2 && argv[2] == std::string("bound"))
    options.processors = yuba::runtime::ProcessorShares(yuba::runtime::OwnProcessors(), argc - 2);
  const auto end = yuba::runtime::StartRanks(argc - 2, argv, signals, options);
  if (!end.ok()) std::cerr << end.status() << "\n";
  if (end.ok() && !end->reason.empty()) std::cerr << end->rank << ": " << end->reason << "\n";
  return end.ok() ? end->exit_code : 99;
}
