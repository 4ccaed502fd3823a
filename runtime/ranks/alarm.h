// A limit to what blocks:
//
//   const Alarm alarm(20, [&] { transport.Abort(Channel::kData); });
//   transfer->Wait();   // after 20 s it is aborted
#ifndef YUBA_RUNTIME_RANKS_ALARM_H_
#define YUBA_RUNTIME_RANKS_ALARM_H_

#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "opsemantics/base/start_thread.h"

namespace yuba::runtime {

class Alarm {
 public:
  // Calls `ring` in a thread of its own after so many seconds, unless it is destroyed before. Rings
  // at once where the system gives no thread.
  Alarm(double seconds, std::function<void()> ring) {
    const auto wait = [this, seconds, ring] {
      std::unique_lock<std::mutex> lock(mutex_);
      const auto time = std::chrono::duration<double>(seconds);
      if (changed_.wait_for(lock, time, [this] { return over_; })) return;
      rang_ = true;
      lock.unlock();
      ring();
    };
    if (StartThread(thread_, wait)) return;
    rang_ = true;
    ring();
  }
  // Waits for a `ring` that is under way.
  ~Alarm() {
    {
      std::lock_guard<std::mutex> lock(mutex_);
      over_ = true;
    }
    changed_.notify_all();
    for (std::thread& thread : thread_) thread.join();
  }
  Alarm(const Alarm&) = delete;

  bool rang() const {
    std::lock_guard<std::mutex> lock(mutex_);
    return rang_;
  }

 private:
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  bool over_ = false, rang_ = false;
  std::vector<std::thread> thread_;  // one, or none
};

}  // namespace yuba::runtime

#endif  // YUBA_RUNTIME_RANKS_ALARM_H_
