#include "runtime/ranks/start_process.h"

#include <fcntl.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "opsemantics/base/status.h"
#include "runtime/ranks/launcher.h"

namespace yuba::runtime {
namespace {

// The new process, in which only calls are allowed that a signal handler may make. Writes errno to
// `problem` where it fails.
[[noreturn]] void BecomeProgram(char* const* argv, char* const* variables, bool keeps_input,
                                const sigset_t& mask, const cpu_set_t& processors, pid_t parent,
                                int problem) {
  const auto fail = [&] {
    const int error = errno;
    const ssize_t written = write(problem, &error, sizeof error);
    static_cast<void>(written);
    _exit(127);
  };
  if (prctl(PR_SET_PDEATHSIG, SIGKILL) != 0) fail();
  if (getppid() != parent) _exit(127);  // it ended before that
  if (setpgid(0, 0) != 0) fail();
  if (!keeps_input) {
    const int nothing = open("/dev/null", O_RDONLY);
    if (nothing < 0 || dup2(nothing, STDIN_FILENO) < 0) fail();
    if (nothing != STDIN_FILENO) close(nothing);
  }
  if (CPU_COUNT(&processors) > 0) {
    const int ignored = sched_setaffinity(0, sizeof processors, &processors);
    static_cast<void>(ignored);
  }
  if (sigprocmask(SIG_SETMASK, &mask, nullptr) != 0) fail();
  execve("/proc/self/exe", argv, variables);
  fail();
  _exit(127);
}

// What is in `file` until its other end is closed, which the start of a program does: an errno or
// nothing, 0.
int ProblemIn(int file) {
  int error = 0;
  ssize_t length = 0;
  do {
    length = read(file, &error, sizeof error);
  } while (length < 0 && errno == EINTR);
  return length == static_cast<ssize_t>(sizeof error) ? error : 0;
}

}  // namespace

std::vector<std::string> VariablesOf(int rank, int ranks, const std::string& folder) {
  std::vector<std::string> variables = {absl::StrCat(kRankVariable, "=", rank),
                                        absl::StrCat(kRanksVariable, "=", ranks),
                                        absl::StrCat(kMeetVariable, "=", folder)};
  for (char* const* variable = environ; *variable != nullptr; ++variable) {
    bool is_ours = false;
    for (const char* name : {kRankVariable, kRanksVariable, kMeetVariable}) {
      is_ours = is_ours || absl::StartsWith(*variable, absl::StrCat(name, "="));
    }
    if (!is_ours) variables.push_back(*variable);
  }
  return variables;
}

absl::StatusOr<pid_t> StartProcess(char* const* argv, const std::vector<std::string>& variables,
                                   bool keeps_input, const sigset_t& mask,
                                   const std::vector<int>& processors) {
  cpu_set_t bound;
  CPU_ZERO(&bound);
  for (const int processor : processors) CPU_SET(processor, &bound);
  std::vector<char*> environment;
  for (const std::string& variable : variables) {
    environment.push_back(const_cast<char*>(variable.c_str()));  // execve only reads
  }
  environment.push_back(nullptr);
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return InternalError("pipe: ", std::strerror(errno));
  const pid_t parent = getpid();
  const pid_t process = fork();
  if (process == 0) {
    BecomeProgram(argv, environment.data(), keeps_input, mask, bound, parent, ends[1]);
  }
  const int fork_error = errno;
  close(ends[1]);
  const int error = process < 0 ? fork_error : ProblemIn(ends[0]);
  close(ends[0]);
  if (error == 0) return process;
  if (process > 0) waitpid(process, nullptr, 0);  // it has ended
  return InternalError(std::strerror(error));
}

}  // namespace yuba::runtime
