// Threads of a transport take no signals, and what a thread writes to a closed connection is an
// error, not SIGPIPE: the process may handle signals as it likes.
#ifndef YUBA_RUNTIME_RANKS_TRANSPORTS_BLOCK_SIGNALS_H_
#define YUBA_RUNTIME_RANKS_TRANSPORTS_BLOCK_SIGNALS_H_

#include <signal.h>
#include <time.h>

namespace yuba::runtime {

// While it lives, threads that this thread starts take no signals, for as long as they live.
class BlockSignals {
 public:
  BlockSignals() {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, &before_);
  }
  ~BlockSignals() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  BlockSignals(const BlockSignals&) = delete;

 private:
  sigset_t before_;
};

// While it lives, this thread gets no SIGPIPE; one that came is forgotten.
class BlockSigpipe {
 public:
  BlockSigpipe() {
    sigset_t pending;
    sigpending(&pending);
    was_pending_ = sigismember(&pending, SIGPIPE) == 1;
    sigemptyset(&pipe_);
    sigaddset(&pipe_, SIGPIPE);
    pthread_sigmask(SIG_BLOCK, &pipe_, &before_);
  }
  ~BlockSigpipe() {
    const timespec now = {0, 0};
    if (!was_pending_) sigtimedwait(&pipe_, nullptr, &now);
    pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }
  BlockSigpipe(const BlockSigpipe&) = delete;

 private:
  sigset_t pipe_, before_;
  bool was_pending_ = false;
};

}  // namespace yuba::runtime

#endif  // YUBA_RUNTIME_RANKS_TRANSPORTS_BLOCK_SIGNALS_H_
