// Threads that must come to an end although what they call may hang: a GPU whose work never ends, a
// library that waits for another process.
#ifndef YUBA_RUNTIME_WATCHED_THREADS_H_
#define YUBA_RUNTIME_WATCHED_THREADS_H_

#include <cstdint>
#include <functional>

namespace yuba::runtime {

// What the watching thread, which is the caller's, asks and tells. It looks about ten times a
// second.
struct Watch {
  double patience_seconds = 0;           // without progress, after which the tasks have stalled
  std::function<int64_t()> progress;     // another number than before where a task has got on
  std::function<void()> look;            // at each look: may find a failure
  std::function<void()> stalled;         // there was no progress for patience_seconds; from then on
                                         // hopeless() must be true
  std::function<bool()> failed;          // whether all tasks are to end
  std::function<bool()> hopeless;        // failed, and some task may never end
  std::function<void()> end_work;        // frees failed tasks from what they wait for; may block,
                                         // so it is called in a thread of its own
  std::function<void(int)> not_started;  // the system gives no thread for this task and those
                                         // behind it; from then on failed() must be true
};

// Calls run(0), ..., run(tasks - 1), each in a thread of its own, and blocks until all have
// returned. Where it is hopeless and nothing gets on for kGraceSeconds, what has not returned is
// left behind: its threads go on, and all that they use must live as long as the process. Returns
// whether there are such threads.
constexpr double kGraceSeconds = 3;
bool RunWatched(int tasks, const std::function<void(int)>& run, const Watch& watch);

}  // namespace yuba::runtime

#endif  // YUBA_RUNTIME_WATCHED_THREADS_H_
