#include "runtime/ranks/start_ranks.h"

#include <signal.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/types/optional.h"
#include "opsemantics/base/clock.h"
#include "opsemantics/base/status.h"
#include "runtime/ranks/own_folder.h"
#include "runtime/ranks/start_process.h"

namespace yuba::runtime {
namespace {

// The processes, 0 in place of those that have ended.
class Ranks {
 public:
  explicit Ranks(double grace_seconds) : grace_seconds_(grace_seconds) {}

  void Add(pid_t process) { processes_.push_back(process); }

  void PassOn(int signal) const {
    for (pid_t process : processes_) {
      if (process > 0) kill(process, signal);
    }
  }

  // Takes note of those that have ended. Whether some are left that are waited for.
  bool Look() {
    bool some_left = false;
    for (size_t rank = 0; rank < processes_.size(); ++rank) {
      pid_t& process = processes_[rank];
      int status = 0;
      if (process == 0) continue;
      const pid_t ended = waitpid(process, &status, WNOHANG);
      if (ended == process) {
        NoteEnd(static_cast<int>(rank), status);
        process = 0;
      } else if (ended < 0 && errno == ECHILD) {
        NoteEnd(static_cast<int>(rank), W_EXITCODE(3, 0));  // somebody else has taken its end
        process = 0;
      }
      some_left = some_left || process > 0;
    }
    if (some_left) EndThoseLeftBehind();
    return some_left && !Hurry();
  }

  RanksEnd end() const {
    RanksEnd end;
    end.exit_code = code_;
    end.failed_at = failed_at_;
    if (signal_ == 0 || explained_) return end;
    end.rank = first_;
    end.process = first_process_;
    char host[256] = "";
    gethostname(host, sizeof host - 1);
    end.host = host;
    end.reason = absl::StrCat("rank ", first_, " (host ", host, ", process ", first_process_,
                              ") was ended by signal ", signal_, " (", strsignal(signal_), ")");
    return end;
  }

 private:
  void NoteEnd(int rank, int status) {
    const int signal = WIFEXITED(status) ? 0 : WTERMSIG(status);
    const int code = signal == 0 ? WEXITSTATUS(status) : 128 + signal;
    if (code == 0 && !well_at_.has_value()) well_at_ = Clock::now();
    // A job of which one rank has ended well is over for all.
    if (code == 0 || (left_behind_ && signal == SIGKILL)) return;
    explained_ = explained_ || signal == 0;
    if (code_ != 0) return;
    code_ = code;
    signal_ = signal;
    first_ = rank;
    first_process_ = processes_[rank];
    failed_at_ = Clock::now();
  }

  // After a failure makes the others end. True where even that is in vain, as of a process that
  // hangs in the kernel.
  bool Hurry() {
    if (!failed_at_.has_value()) return false;
    constexpr int kSteps[] = {SIGTERM, SIGKILL};
    const double graces = SecondsSince(*failed_at_) / std::max(grace_seconds_, 0.001);
    if (hurried_ < 2 && graces > hurried_ + 1) PassOn(kSteps[hurried_++]);
    return graces > 4 && SecondsSince(*failed_at_) > 10;
  }

  // Ranks end well together: one that is stopped, or hangs, while it exits is not waited for.
  void EndThoseLeftBehind() {
    if (left_behind_ || failed_at_.has_value() || !well_at_.has_value()) return;
    if (SecondsSince(*well_at_) < 4 * grace_seconds_) return;
    left_behind_ = true;
    PassOn(SIGKILL);
  }

  const double grace_seconds_;
  std::vector<pid_t> processes_;  // [rank]
  // Of the first that has not ended well.
  int code_ = 0, signal_ = 0, first_ = -1;
  pid_t first_process_ = 0;
  bool explained_ = false;  // one has ended by a code that is not 0
  absl::optional<Clock::time_point> failed_at_;
  absl::optional<Clock::time_point> well_at_;  // when the first had ended well
  bool left_behind_ = false;                   // those that had not long after were killed
  int hurried_ = 0;                            // signals sent for that
};

}  // namespace

absl::StatusOr<RanksEnd> StartRanks(int ranks, char* const* argv, const HeldSignals& signals,
                                    const StartOptions& options) {
  if (ranks < 1) return UserError("--ranks ", ranks, ": at least 1 is needed");
  const OwnFolder folder("yuba-ranks");
  if (folder.path().empty()) {
    return UserError("no folder for ranks to meet in: ", folder.problem(), "; set TMPDIR");
  }
  Ranks started(options.grace_seconds);
  absl::Status problem;
  for (int rank = 0; rank < ranks && problem.ok(); ++rank) {
    const absl::StatusOr<pid_t> process =
        StartProcess(argv, VariablesOf(rank, ranks, folder.path()), rank == 0, signals.before(),
                     options.processors.empty() ? std::vector<int>() : options.processors[rank]);
    if (process.ok()) {
      started.Add(*process);
    } else {
      problem = InternalError("rank ", rank, " of ", ranks,
                              " cannot be started: ", process.status().message(),
                              "; see ulimit -u and -n");
    }
  }
  if (!problem.ok()) started.PassOn(SIGKILL);
  int asked = 0;
  while (started.Look()) {
    if (options.look != nullptr) options.look();
    const int signal = signals.Next();
    if (signal == 0 || signal == SIGCHLD) continue;
    started.PassOn(signal);
    asked = signal;
  }
  if (!problem.ok()) return problem;
  RanksEnd end = started.end();
  end.asked = asked;
  return end;
}

}  // namespace yuba::runtime
