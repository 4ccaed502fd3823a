#include "runtime/host/thread_team.h"

#include "opsemantics/base/check.h"

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
  if (parts > 1) {
    std::lock_guard<std::mutex> lock(mutex_);
    run_ = &run;
    parts_ = parts;
    running_ = parts - 1;
    ++calls_;
    while (static_cast<int>(workers_.size()) < parts - 1) {
      const int part = static_cast<int>(workers_.size()) + 1;
      workers_.emplace_back([this, part] { Work(part); });
    }
  }
  if (parts > 1) called_.notify_all();
  if (parts > 0) run(0);
  if (parts <= 1) return;
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
