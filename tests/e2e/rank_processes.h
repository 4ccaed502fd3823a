// A job of several ranks that runs while the test goes on: its processes are found by rank, to be
// sent signals, and it is seen whether all of them end.
#ifndef YUBA_TESTS_E2E_RANK_PROCESSES_H_
#define YUBA_TESTS_E2E_RANK_PROCESSES_H_

#include <sys/types.h>

#include <string>
#include <vector>

namespace yuba {

class RankProcesses {
 public:
  // Starts `line` by a shell, as RunCommand does, and returns.
  explicit RankProcesses(const std::string& line);
  // Kills what is left of it.
  ~RankProcesses();
  RankProcesses(const RankProcesses&) = delete;

  // The process of each rank, of whatever launcher: waits until all have been started. Fewer where
  // the job has ended before.
  std::vector<pid_t> Find(int ranks);
  pid_t launcher() const { return launcher_; }

  // Waits until the launcher and all processes that come of it have ended; the test fails where
  // some have not after two minutes. The launcher's exit code, 128 + signal where one ended it.
  int Await();

  // Waits until there are no processes but the launcher and this one; where others are left after
  // two minutes the test fails.
  void AwaitOthers(pid_t process) const;

  // As far as it has been written.
  std::string Out() const;
  std::string Error() const;

 private:
  // Those that live, the launcher among them.
  std::vector<pid_t> Living() const;

  std::string folder_, mark_;
  pid_t launcher_ = -1;
  int status_ = 0;
  bool ended_ = false;
};

// Of a process, "VmHWM" and the like in bytes; 0 where it has ended.
int64_t MemoryOf(pid_t process, const std::string& row);

}  // namespace yuba

#endif  // YUBA_TESTS_E2E_RANK_PROCESSES_H_
