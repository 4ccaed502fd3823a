// The signals of a process that waits for processes that it has started.
#ifndef YUBA_RUNTIME_RANKS_HELD_SIGNALS_H_
#define YUBA_RUNTIME_RANKS_HELD_SIGNALS_H_

#include <signal.h>

namespace yuba::runtime {

// While it lives, SIGCHLD and those that ask for an end (SIGINT, SIGTERM, SIGUSR1) wait to be taken
// by Next; SIGCHLD comes even where this process was started with it ignored. One at a time, on the
// process's only thread.
class HeldSignals {
 public:
  HeldSignals();
  ~HeldSignals();
  HeldSignals(const HeldSignals&) = delete;
  HeldSignals& operator=(const HeldSignals&) = delete;

  // Those that were held back before, as for a process that is started.
  const sigset_t& before() const { return before_; }
  // The next one, as soon as it is there; 0 where none comes for a tenth of a second.
  int Next() const;

 private:
  sigset_t held_, before_;
  struct sigaction child_before_;
};

}  // namespace yuba::runtime

#endif  // YUBA_RUNTIME_RANKS_HELD_SIGNALS_H_
