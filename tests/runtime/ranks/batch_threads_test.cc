// Threads that are started while a BatchThreads lives don't interrupt others; no other thread is
// changed.
#include "runtime/ranks/transports/batch_threads.h"

#include <catch2/catch.hpp>
#include <thread>

namespace yuba::runtime {
namespace {

int PolicyOfThread() {
  int policy = -1;
  std::thread([&] { policy = sched_getscheduler(0); }).join();
  return policy;
}

TEST_CASE("threads have the policy for as long as they live, and who started them as before") {
  REQUIRE(sched_getscheduler(0) == SCHED_OTHER);
  {
    const BatchThreads batch;
    CHECK(PolicyOfThread() == SCHED_BATCH);
  }
  CHECK(sched_getscheduler(0) == SCHED_OTHER);
  CHECK(PolicyOfThread() == SCHED_OTHER);
}

TEST_CASE("a policy that somebody chose stays") {
  std::thread([] {
    const sched_param none = {};
    REQUIRE(sched_setscheduler(0, SCHED_IDLE, &none) == 0);
    {
      const BatchThreads batch;
      CHECK(PolicyOfThread() == SCHED_IDLE);
    }
    CHECK(sched_getscheduler(0) == SCHED_IDLE);
  }).join();
}

}  // namespace
}  // namespace yuba::runtime
