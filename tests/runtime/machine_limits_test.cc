// What a session needs against what there is: the errors say both, and what sets the limit.
#include "runtime/machine_limits.h"

#include <sys/resource.h>

#include <catch2/catch.hpp>
#include <fstream>
#include <limits>
#include <string>

#include "opsemantics/base/start_thread.h"
#include "tests/support/status_matchers.h"

namespace yuba::runtime {
namespace {

TEST_CASE("arenas that fit are no error, one byte more is") {
  const AvailableMemory available = {8'000'000, "ulimit -v"};
  CHECK_THAT(CheckArenas(4, 2'000'000, available), IsOk());
  const absl::Status more = CheckArenas(4, 2'000'001, available);
  CHECK_THAT(
      more, StatusIs(absl::StatusCode::kResourceExhausted, "4 devices of 2.0 MB each need 8.0 MB"));
  CHECK_THAT(more, StatusIs(absl::StatusCode::kResourceExhausted, "ulimit -v leaves 8.0 MB"));
  CHECK_THAT(CheckArenas(1, 8'000'001, available),
             StatusIs(absl::StatusCode::kResourceExhausted, "the device needs 8.0 MB"));
}

TEST_CASE("so many bytes that their product does not fit 64 bits are too many") {
  const int64_t huge = std::numeric_limits<int64_t>::max() / 2;
  CHECK_THAT(CheckArenas(8, huge, {int64_t{1} << 40, "the machine"}),
             StatusIs(absl::StatusCode::kResourceExhausted));
}

TEST_CASE("memory that is available is what a limit leaves") {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  WARN("SKIP: a sanitizer needs more address space than a limit leaves");
#else
  constexpr int64_t kLeft = 256 << 20;
  std::ifstream status("/proc/self/status");
  int64_t kilobytes = 0;
  for (std::string word; status >> word;) {
    if (word == "VmSize:") status >> kilobytes;
  }
  REQUIRE(kilobytes > 0);
  rlimit before = {};
  REQUIRE(getrlimit(RLIMIT_AS, &before) == 0);
  rlimit less = before;
  less.rlim_cur = static_cast<rlim_t>(kilobytes * 1024 + kLeft);
  REQUIRE(setrlimit(RLIMIT_AS, &less) == 0);
  const AvailableMemory available = MemoryAvailable();
  REQUIRE(setrlimit(RLIMIT_AS, &before) == 0);
  CHECK(available.bytes <= kLeft);
  CHECK(available.limit == "ulimit -v");
#endif
}

TEST_CASE("threads are counted up to what is wanted, and none is needed by one device") {
  CHECK(ThreadsToBeHad(0, 1 << 20) == 0);
  CHECK(ThreadsToBeHad(3, 1 << 20) == 3);
  CHECK(ThreadsToBeHad(1, size_t{1} << 62) == 0);  // no system has so much to spare
  CHECK_THAT(CheckThreads(1, 1, false), IsOk());
  CHECK_THAT(CheckThreads(4, 2, true), IsOk());
}

}  // namespace
}  // namespace yuba::runtime
