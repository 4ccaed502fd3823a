// Ranks of one machine have processors of their own, cores whole.
#include "runtime/ranks/processor_shares.h"

#include <catch2/catch.hpp>
#include <cstdlib>
#include <string>
#include <vector>

#include "runtime/machine_limits.h"

namespace yuba::runtime {
namespace {

using Shares = std::vector<std::vector<int>>;

// Of a machine whose processor p is on package p / 4 % 2 and core p % 4.
int OfTwoPackages(const std::string& path) {
  const int processor = std::atoi(path.c_str() + std::string("/sys/devices/system/cpu/cpu").size());
  return path.find("package") != path.npos ? processor / 4 % 2 : processor % 4;
}
int Unknown(const std::string&) { return -1; }

TEST_CASE("a rank has processors of one core, and of one package as far as they go") {
  const std::vector<int> all = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
  CHECK(ProcessorShares(all, 2, OfTwoPackages) ==
        Shares{{0, 1, 2, 3, 8, 9, 10, 11}, {4, 5, 6, 7, 12, 13, 14, 15}});
  CHECK(ProcessorShares(all, 8, OfTwoPackages)[1] == std::vector<int>{1, 9});
  CHECK(ProcessorShares({3, 5, 11}, 1, OfTwoPackages) == Shares{{3, 5, 11}});
}

TEST_CASE("shares are as equal as can be, and there are none without a processor for each rank") {
  CHECK(ProcessorShares({0, 1, 2, 3, 4}, 3, Unknown) == Shares{{0}, {1, 2}, {3, 4}});
  CHECK(ProcessorShares({0, 1}, 2, Unknown) == Shares{{0}, {1}});
  CHECK(ProcessorShares({0, 1}, 3, Unknown).empty());
  CHECK(ProcessorShares({}, 1, Unknown).empty());
}

TEST_CASE("this machine's processors are each in one share") {
  const std::vector<int> own = OwnProcessors();
  size_t shared = 0;
  const int ranks = own.size() > 1 ? 2 : 1;
  for (const std::vector<int>& share : ProcessorShares(own, ranks)) shared += share.size();
  CHECK(shared == own.size());
}

}  // namespace
}  // namespace yuba::runtime
