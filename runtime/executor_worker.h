// A part of the executor (executor.cc, recorded_steps.cc).
#ifndef YUBA_RUNTIME_EXECUTOR_WORKER_H_
#define YUBA_RUNTIME_EXECUTOR_WORKER_H_

#include "runtime/executor.h"

namespace yuba::runtime {

// How far one device has come in the step.
struct Executor::Worker {
  explicit Worker(const program::EntryRange& entry) : at(entry.begin), end(entry.end) {}
  bool done() const { return at == end; }

  int at;                // the instruction that comes next
  int end;               // of the entry
  bool begun = false;    // the instruction `at`
  bool waiting = false;  // blocked, in an interleaved step
};

}  // namespace yuba::runtime

#endif  // YUBA_RUNTIME_EXECUTOR_WORKER_H_
