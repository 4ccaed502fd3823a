#include "runtime/watched_threads.h"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "opsemantics/base/clock.h"
#include "opsemantics/base/start_thread.h"

namespace yuba::runtime {
namespace {

constexpr double kLookSeconds = 0.1;
// In which failed tasks end by themselves, unless they hang.
constexpr double kEndSeconds = 0.5;

// Lives as long as the last thread that was started.
struct Shared {
  std::mutex mutex;
  std::condition_variable one_ended;
  int running = 0;
};

class ThreadWatcher {
 public:
  explicit ThreadWatcher(const Watch& watch) : watch_(watch) {}

  bool Start(std::function<void()> run) {
    const std::shared_ptr<Shared> shared = shared_;
    {
      std::lock_guard<std::mutex> lock(shared->mutex);
      ++shared->running;
    }
    const bool started = StartThread(threads_, [shared, run = std::move(run)] {
      run();
      std::lock_guard<std::mutex> lock(shared->mutex);
      --shared->running;
      shared->one_ended.notify_one();
    });
    std::lock_guard<std::mutex> lock(shared->mutex);
    shared->running -= started ? 0 : 1;
    return started;
  }

  // Whether some thread was left behind.
  bool Wait() {
    changed_ = Clock::now();
    progress_ = watch_.progress();
    while (!AllEnd()) {
      watch_.look();
      Look();
      if (watch_.hopeless() && SecondsSince(changed_) > kGraceSeconds) {
        for (std::thread& thread : threads_) thread.detach();
        return true;
      }
    }
    for (std::thread& thread : threads_) thread.join();
    return false;
  }

 private:
  // Blocks for the time between two looks, or until no thread runs; says whether none does.
  bool AllEnd() {
    const std::chrono::duration<double> most(std::min(kLookSeconds, watch_.patience_seconds / 4));
    std::unique_lock<std::mutex> lock(shared_->mutex);
    return shared_->one_ended.wait_for(lock, most, [&] { return shared_->running == 0; });
  }

  void Look() {
    const int64_t progress = watch_.progress();
    if (progress != progress_) changed_ = Clock::now();
    progress_ = progress;
    if (!watch_.hopeless() && SecondsSince(changed_) > watch_.patience_seconds) {
      watch_.stalled();
      changed_ = Clock::now();
    }
    if (!failed_ && watch_.failed()) {
      failed_ = true;
      changed_ = Clock::now();
    }
    if (failed_ && !freed_ && SecondsSince(changed_) > kEndSeconds) {
      freed_ = true;
      Start(watch_.end_work);  // without a thread for it, tasks that wait are left behind
    }
  }

  const Watch& watch_;
  const std::shared_ptr<Shared> shared_ = std::make_shared<Shared>();
  std::vector<std::thread> threads_;
  Clock::time_point changed_;  // when progress(), failed() or hopeless() changed last
  int64_t progress_ = 0;
  bool failed_ = false, freed_ = false;
};

}  // namespace

bool RunWatched(int tasks, const std::function<void(int)>& run, const Watch& watch) {
  ThreadWatcher watcher(watch);
  for (int task = 0; task < tasks; ++task) {
    if (watcher.Start([run, task] { run(task); })) continue;
    watch.not_started(task);
    break;
  }
  return watcher.Wait();
}

}  // namespace yuba::runtime
