// Threads where the system may give none: each user may have so many (ulimit -u), a container too,
// and each needs memory for its stack.
#ifndef YUBA_OPSEMANTICS_BASE_START_THREAD_H_
#define YUBA_OPSEMANTICS_BASE_START_THREAD_H_

#include <functional>
#include <thread>
#include <vector>

namespace yuba {

// Starts a thread that calls `run`, and puts it behind `threads`. False, with `threads` as they
// were, where the system gives no thread.
bool StartThread(std::vector<std::thread>& threads, std::function<void()> run);

// How many of `wanted` threads, all at once and beside those that there are, the system gives now,
// with `spare` bytes of memory left to them. Starts them and waits for their end.
int ThreadsToBeHad(int wanted, size_t spare);

}  // namespace yuba

#endif  // YUBA_OPSEMANTICS_BASE_START_THREAD_H_
