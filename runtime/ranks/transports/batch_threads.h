// Threads of a transport that wake up where another thread runs wait until it sleeps, or has had
// its share of the processor.
//
// gloo's thread does not wait for the lock of a connection: while another thread sends, it asks for
// it again and again. On one processor it would interrupt that thread in the middle of its message,
// and then spend its whole share on asking for the lock which that one holds.
#ifndef YUBA_RUNTIME_RANKS_TRANSPORTS_BATCH_THREADS_H_
#define YUBA_RUNTIME_RANKS_TRANSPORTS_BATCH_THREADS_H_

#include <sched.h>

namespace yuba::runtime {

// While it lives, threads that this thread starts have the policy SCHED_BATCH, for as long as they
// live. Another policy than the usual one is left as it is.
class BatchThreads {
 public:
  BatchThreads() { Change(SCHED_OTHER, SCHED_BATCH); }
  ~BatchThreads() {
    if (is_changed_) Change(SCHED_BATCH, SCHED_OTHER);
  }
  BatchThreads(const BatchThreads&) = delete;

 private:
  void Change(int from, int to) {
    const sched_param none = {};
    is_changed_ = sched_getscheduler(0) == from && sched_setscheduler(0, to, &none) == 0;
  }

  bool is_changed_ = false;
};

}  // namespace yuba::runtime

#endif  // YUBA_RUNTIME_RANKS_TRANSPORTS_BATCH_THREADS_H_
