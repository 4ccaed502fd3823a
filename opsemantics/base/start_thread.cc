#include "opsemantics/base/start_thread.h"

#include <sys/mman.h>

#include <condition_variable>
#include <mutex>
#include <new>
#include <system_error>
#include <utility>

namespace yuba {

bool StartThread(std::vector<std::thread>& threads, std::function<void()> run) {
  try {
    threads.emplace_back(std::move(run));
    return true;
  } catch (const std::system_error&) {
    return false;
  } catch (const std::bad_alloc&) {
    return false;
  }
}

int ThreadsToBeHad(int wanted, size_t spare) {
  if (wanted <= 0) return 0;
  void* const kept = mmap(nullptr, spare, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  std::mutex mutex;
  std::condition_variable all_started;
  bool end = false;
  std::vector<std::thread> threads;
  while (kept != MAP_FAILED && static_cast<int>(threads.size()) < wanted) {
    const bool started = StartThread(threads, [&] {
      std::unique_lock<std::mutex> lock(mutex);
      all_started.wait(lock, [&] { return end; });
    });
    if (!started) break;
  }
  {
    std::lock_guard<std::mutex> lock(mutex);
    end = true;
  }
  all_started.notify_all();
  for (std::thread& thread : threads) thread.join();
  if (kept != MAP_FAILED) munmap(kept, spare);
  return static_cast<int>(threads.size());
}

}  // namespace yuba
