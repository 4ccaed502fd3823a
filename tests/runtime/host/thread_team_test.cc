// Every part runs once, at the same time as the others, for any number of threads and calls.
#include "runtime/host/thread_team.h"

#include <atomic>
#include <catch2/catch.hpp>
#include <set>
#include <vector>

namespace yuba::runtime {
namespace {

TEST_CASE("each part of each call runs once, before the call returns") {
  for (int threads = 1; threads <= 5; ++threads) {
    ThreadTeam team(threads);
    for (int call = 0; call < 200; ++call) {
      const int parts = call % (threads + 1);
      std::vector<int> runs(threads, 0);  // each part writes its own, so a race is seen by tsan
      team.Run(parts, [&](int part) { ++runs[part]; });
      for (int part = 0; part < threads; ++part) REQUIRE(runs[part] == (part < parts ? 1 : 0));
    }
  }
}

TEST_CASE("parts run at the same time, each in a thread of its own") {
  ThreadTeam team(3);
  for (int call = 0; call < 20; ++call) {
    std::atomic<int> arrived{0};
    std::vector<std::thread::id> ids(3);
    team.Run(3, [&](int part) {
      ids[part] = std::this_thread::get_id();
      ++arrived;
      while (arrived < 3) std::this_thread::yield();  // would hang if one waited for another's end
    });
    CHECK(ids[0] == std::this_thread::get_id());
    CHECK(std::set<std::thread::id>(ids.begin(), ids.end()).size() == 3);
  }
}

TEST_CASE("a team that never ran, or ran one part, ends") {
  ThreadTeam unused(4);
  ThreadTeam one(4);
  int runs = 0;
  one.Run(1, [&](int) { ++runs; });
  one.Run(0, [&](int) { ++runs; });
  CHECK(runs == 1);
}

}  // namespace
}  // namespace yuba::runtime
