#include "search/solve/parallel.h"

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

#include "opsemantics/base/start_thread.h"

namespace yuba::search {
namespace {

thread_local bool in_loop = false;

class Loop {
 public:
  Loop(int64_t count, const std::function<void(int64_t)>& work) : count_(count), work_(work) {}

  void Run(int threads) {
    std::vector<std::thread> others;
    while (static_cast<int>(others.size()) + 1 < threads) {
      if (!StartThread(others, [this] { Take(); })) break;  // those that there are do the work
    }
    Take();
    for (std::thread& other : others) other.join();
    if (failure_ != nullptr) std::rethrow_exception(failure_);
  }

 private:
  void Take() {
    in_loop = true;
    try {
      for (int64_t i = next_++; i < count_; i = next_++) work_(i);
    } catch (...) {
      next_ = count_;
      std::lock_guard<std::mutex> lock(mutex_);
      if (failure_ == nullptr) failure_ = std::current_exception();
    }
    in_loop = false;
  }

  const int64_t count_;
  const std::function<void(int64_t)>& work_;
  std::atomic<int64_t> next_{0};
  std::mutex mutex_;
  std::exception_ptr failure_;
};

}  // namespace

void ParallelFor(int threads, int64_t count, const std::function<void(int64_t)>& work) {
  threads = static_cast<int>(std::min<int64_t>(threads, count));
  if (threads <= 1 || in_loop) {
    for (int64_t i = 0; i < count; ++i) work(i);
    return;
  }
  Loop(count, work).Run(threads);
}

}  // namespace yuba::search
