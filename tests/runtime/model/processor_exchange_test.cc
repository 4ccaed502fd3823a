// What exchanges cost devices that share processors, from tables.
#include "runtime/model/processor_exchange.h"

#include <catch2/catch.hpp>

namespace yuba::runtime {
namespace {

// 8 devices on 2 processors. Small exchanges take 10 us for one message and 70 us for seven.
Machine Shared() {
  Machine machine;
  machine.device.processors = 2;
  machine.links.emplace_back();
  machine.links[0].devices = 8;
  machine.links[0].tables = {{"permute", 8, true, {{1e3, 1e-5}, {1e9, 1e-2}}},
                             {"all_to_all", 8, true, {{1e3, 7e-5}, {8e6, 1e-3}}},
                             {"all_gather", 8, true, {{1e3, 7e-5}, {1e6, 2e-4}}},
                             {"reduce_scatter", 8, true, {{1e3, 7e-5}, {1e6, 2e-3}}}};
  return machine;
}

TEST_CASE("a device works its share of what all together take, by what is measured") {
  const Machine machine = Shared();
  // Two processors work for 200 us, for eight devices.
  CHECK(ProcessorSecondsOf(machine, 0, 8, {"all_gather", false, 7, 1e6}) == Approx(2e-4 * 2 / 8));
  CHECK(ProcessorSecondsOf(machine, 0, 8, {"", true, 7, 1e6}) == Approx(2e-3 * 2 / 8));
  CHECK(ProcessorSecondsOf(machine, 0, 8, {"", false, 7, 1e6}) == Approx(1e-3 * 2 / 8));
}

TEST_CASE("fewer messages cost less, of equally many bytes") {
  const Machine machine = Shared();
  const double seven = ProcessorSecondsOf(machine, 0, 8, {"all_gather", false, 7, 1e6});
  const double four = ProcessorSecondsOf(machine, 0, 8, {"all_gather", false, 4, 1e6});
  const double one = ProcessorSecondsOf(machine, 0, 8, {"all_gather", false, 1, 1e6});
  CHECK(seven - one == Approx((7e-5 - 1e-5) * 2 / 8));
  CHECK(four == Approx((seven + one) / 2));
  CHECK(ProcessorSecondsOf(machine, 0, 8, {"", false, 0, 0}) == 0);
}

TEST_CASE("tables of the next more devices serve those between") {
  Machine machine = Shared();
  machine.links[0].tables.push_back({"permute", 2, true, {{1e3, 3e-5}}});
  machine.links[0].tables.push_back({"all_to_all", 2, true, {{1e3, 4e-5}}});
  const CopyWork work = {"", false, 1, 100};
  CHECK(ProcessorSecondsOf(machine, 0, 2, work) == Approx(4e-5));  // a processor for each
  CHECK(ProcessorSecondsOf(machine, 0, 3, work) == ProcessorSecondsOf(machine, 0, 8, work));
  CHECK(ProcessorSecondsOf(machine, 0, 16, work) == ProcessorSecondsOf(machine, 0, 8, work));
}

TEST_CASE("devices with processors of their own, or links without tables, have no such cost") {
  Machine machine = Shared();
  const CopyWork work = {"all_gather", false, 7, 1e6};
  machine.device.processors = 0;
  CHECK(ProcessorSecondsOf(machine, 0, 8, work) < 0);
  machine = Shared();
  machine.links[0].tables.clear();
  CHECK(ProcessorSecondsOf(machine, 0, 8, work) < 0);
}

}  // namespace
}  // namespace yuba::runtime
