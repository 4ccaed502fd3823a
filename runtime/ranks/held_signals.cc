#include "runtime/ranks/held_signals.h"

#include <time.h>

namespace yuba::runtime {

HeldSignals::HeldSignals() {
  sigemptyset(&held_);
  constexpr int kHeld[] = {SIGCHLD, SIGINT, SIGTERM, SIGUSR1};
  for (const int signal : kHeld) sigaddset(&held_, signal);
  pthread_sigmask(SIG_BLOCK, &held_, &before_);
  struct sigaction usual = {};
  usual.sa_handler = SIG_DFL;
  sigaction(SIGCHLD, &usual, &child_before_);
}

HeldSignals::~HeldSignals() {
  sigaction(SIGCHLD, &child_before_, nullptr);
  pthread_sigmask(SIG_SETMASK, &before_, nullptr);
}

int HeldSignals::Next() const {
  const timespec while_ = {0, 100 * 1000 * 1000};
  const int signal = sigtimedwait(&held_, nullptr, &while_);
  return signal > 0 ? signal : 0;
}

}  // namespace yuba::runtime
