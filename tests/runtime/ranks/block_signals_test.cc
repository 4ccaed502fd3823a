// A closed connection is an error to who writes to it, and threads of a transport take no signals.
#include "runtime/ranks/transports/block_signals.h"

#include <errno.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <thread>

namespace yuba::runtime {
namespace {

bool IsPending(int signal) {
  sigset_t pending;
  sigpending(&pending);
  return sigismember(&pending, signal) == 1;
}

bool IsBlocked(int signal) {
  sigset_t blocked;
  pthread_sigmask(SIG_BLOCK, nullptr, &blocked);
  return sigismember(&blocked, signal) == 1;
}

TEST_CASE("what is written to a closed pipe is an error, and nothing is left of the signal") {
  int ends[2];
  REQUIRE(pipe(ends) == 0);
  close(ends[0]);
  for (int i = 0; i < 2; ++i) {
    const BlockSigpipe block;
    CHECK(write(ends[1], "x", 1) == -1);
    CHECK(errno == EPIPE);
  }
  CHECK_FALSE(IsPending(SIGPIPE));
  CHECK_FALSE(IsBlocked(SIGPIPE));
  close(ends[1]);
}

TEST_CASE("a thread takes no signals for as long as it lives") {
  bool blocked = false;
  std::thread thread;
  {
    const BlockSignals block;
    thread = std::thread([&] { blocked = IsBlocked(SIGTERM) && IsBlocked(SIGCONT); });
  }
  thread.join();
  CHECK(blocked);
  CHECK_FALSE(IsBlocked(SIGTERM));
}

}  // namespace
}  // namespace yuba::runtime
