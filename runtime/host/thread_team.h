// The threads of one virtual device: the one that calls, and workers that sleep until there is
// something to share. Waking them costs time, so callers share only what takes longer
// (launch_parts.h).
//
//   ThreadTeam team(4);
//   team.Run(3, [&](int part) { Work(part); });   // parts 0, 1 and 2 at once; back when all ended
#ifndef YUBA_RUNTIME_HOST_THREAD_TEAM_H_
#define YUBA_RUNTIME_HOST_THREAD_TEAM_H_

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace yuba::runtime {

class ThreadTeam {
 public:
  // `threads`, at least 1, include the caller's. Workers are started by the first Run that needs
  // them.
  explicit ThreadTeam(int threads) : threads_(threads) {}
  ~ThreadTeam();
  ThreadTeam(const ThreadTeam&) = delete;

  int threads() const { return threads_; }

  // Calls run(part) for each part from 0 to `parts`, excluded, at most threads(); part 0 in the
  // calling thread, and so are those for which the system gives no thread: no part waits for
  // another. Blocks until all have returned. One call at a time.
  void Run(int parts, const std::function<void(int part)>& run);

 private:
  void Work(int part);

  const int threads_;
  std::vector<std::thread> workers_;  // worker i runs part i + 1
  std::mutex mutex_;                  // of all below
  std::condition_variable called_, ended_;
  const std::function<void(int)>* run_ = nullptr;  // of the call in progress
  int parts_ = 0;
  int running_ = 0;    // workers that have not ended their parts
  int64_t calls_ = 0;  // so far; by it a worker knows a new one
  bool closing_ = false;
};

}  // namespace yuba::runtime

#endif  // YUBA_RUNTIME_HOST_THREAD_TEAM_H_
