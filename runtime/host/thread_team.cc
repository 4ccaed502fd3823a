#include "runtime/host/thread_team.h"

#include <algorithm>

#include "opsemantics/base/check.h"
#include "opsemantics/base/start_thread.h"

namespace yuba::runtime {

ThreadTeam::~ThreadTeam() {
  {
    std::lock_guard<std::mutex> lock(mutex_);
    closing_ = true;
  }
  called_.notify_all();
  for (std::thread& worker : workers_) worker.join();
}

void ThreadTeam::Run(int parts, const std::function<void(int part)>& run) {
  YUBA_CHECK(parts <= threads_) << parts << " parts for " << threads_ << " threads";
  int shared = 1;  // parts that have a thread: the caller runs those beyond too
  if (parts > 1) {
    std::lock_guard<std::mutex> lock(mutex_);
    while (static_cast<int>(workers_.size()) < parts - 1) {
      const int part = static_cast<int>(workers_.size()) + 1;
      if (!StartThread(workers_, [this, part] { Work(part); })) break;
    }
    shared = std::min(parts, static_cast<int>(workers_.size()) + 1);
    run_ = &run;
    parts_ = shared;
    running_ = shared - 1;
    ++calls_;
  }
  if (shared > 1) called_.notify_all();
  for (int part = 0; part < parts; part = part == 0 ? shared : part + 1) run(part);
  if (shared <= 1) return;
  std::unique_lock<std::mutex> lock(mutex_);
  ended_.wait(lock, [this] { return running_ == 0; });
}

void ThreadTeam::Work(int part) {
  int64_t done = 0;  // calls; a worker that is started late takes part in the call in progress
  std::unique_lock<std::mutex> lock(mutex_);
  while (true) {
    called_.wait(lock, [&] { return closing_ || calls_ != done; });
    if (closing_) return;
    done = calls_;
    if (part >= parts_) continue;
    const std::function<void(int)>& run = *run_;
    lock.unlock();
    run(part);
    lock.lock();
    if (--running_ == 0) ended_.notify_one();
  }
}

}  // namespace yuba::runtime
