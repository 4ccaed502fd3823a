// Schedules that were computed by hand.
#include "runtime/model/simulate.h"

#include <catch2/catch.hpp>

namespace yuba::runtime {
namespace {

// Links of 1 GB/s and 10 us, memory of 10 GB/s, nothing that takes time by itself.
Machine SlowMachine(int devices) {
  Machine machine;
  machine.name = "slow";
  machine.device.bandwidth = 1e10;
  machine.links.emplace_back();
  machine.links[0].devices = devices;
  machine.links[0].latency = 1e-5;
  machine.links[0].bandwidth = 1e9;
  return machine;
}

// Each device a class of its own, in one process, with ports of its own.
StepList Devices(int count) {
  StepList list;
  list.class_sizes.assign(count, 1);
  list.in_process.assign(count, 1);
  list.process_of.assign(count, 0);
  list.on_port.assign(1, std::vector<int>(count, 1));
  list.port_of.resize(1);
  for (int d = 0; d < count; ++d) {
    list.class_of.push_back(d);
    list.port_of[0].push_back(d);
  }
  return list;
}

void AddKernel(StepList& list, const std::vector<double>& seconds) {
  list.steps.push_back(
      {static_cast<int>(list.steps.size()), false, static_cast<int>(list.kernels.size()), -1});
  list.kernels.emplace_back();
  for (const double each : seconds) {
    KernelTime time;
    time.seconds = each;
    list.kernels.back().push_back(time);
  }
}

// bytes: [device][source]
void AddExchange(StepList& list, const std::vector<std::vector<double>>& bytes,
                 const std::vector<double>& local = {}) {
  list.steps.push_back(
      {static_cast<int>(list.steps.size()), true, static_cast<int>(list.exchanges.size()), -1});
  std::vector<ExchangeTime> row(bytes.size());
  for (int d = 0; d < static_cast<int>(bytes.size()); ++d) {
    for (int s = 0; s < static_cast<int>(bytes.size()); ++s) {
      if (bytes[d][s] == 0) continue;
      row[d].inflows.push_back({s, 0, bytes[d][s], 1});
      row[d].sources.push_back(s);
      row[s].readers.push_back(d);
    }
    if (!local.empty()) row[d].local_bytes = local[d];
  }
  list.exchanges.push_back(std::move(row));
}

Approx Seconds(double seconds) { return Approx(seconds).epsilon(1e-9); }

TEST_CASE("kernels of a device follow each other, each with its launch") {
  Machine machine = SlowMachine(1);
  machine.device.launch = 1e-6;
  StepList list = Devices(1);
  AddKernel(list, {2e-3});
  AddKernel(list, {3e-3});
  list.kernels[0][0].start = 4e-6;
  list.kernels[1][0].kernel_class = KernelClass::kProduct;
  const Simulation run = Simulate(list, machine, OneProcessPolicy(), true);
  CHECK(run.seconds == Seconds(5e-3 + 6e-6));
  CHECK(run.classes[0].kernels[static_cast<int>(KernelClass::kMap)] == Seconds(2e-3 + 5e-6));
  CHECK(run.classes[0].kernels[static_cast<int>(KernelClass::kProduct)] == Seconds(3e-3 + 1e-6));
  REQUIRE(run.classes[0].events.size() == 2);
  CHECK(run.classes[0].events[1].begin == Seconds(2e-3 + 5e-6));
}

TEST_CASE("an exchange waits for its sources, and its sources for their readers") {
  StepList list = Devices(3);
  AddKernel(list, {1e-3, 2e-3, 0});
  // 0 reads 1, 2 reads 0.
  AddExchange(list, {{0, 1e6, 0}, {0, 0, 0}, {5e5, 0, 0}});
  const Simulation run = Simulate(list, SlowMachine(3), OneProcessPolicy(), true);
  // 2 waits for 0 until 1 ms and copies 0.51 ms. 0 waits for 1 until 2 ms and copies 1.01 ms.
  const std::vector<ClassTimes>& devices = run.classes;
  CHECK(devices[2].waiting == Seconds(1e-3));
  CHECK(devices[2].end == Seconds(1.51e-3));
  CHECK(devices[0].waiting == Seconds(1e-3));
  CHECK(devices[0].exchanges == Seconds(1.01e-3));
  CHECK(devices[0].end == Seconds(3.01e-3));
  // 1 reads nothing and waits until it was read.
  CHECK(devices[1].waiting == Seconds(1.01e-3));
  CHECK(devices[1].end == Seconds(3.01e-3));
  REQUIRE(devices[0].events.size() == 3);
  CHECK(devices[0].events[1].waiting);
  CHECK(devices[0].events[1].begin == Seconds(1e-3));
  CHECK(devices[0].events[1].end == Seconds(2e-3));
}

TEST_CASE("those that read one device share what leaves it, and what one receives is full duplex") {
  StepList list = Devices(3);
  AddExchange(list, {{0, 0, 0}, {1e6, 0, 0}, {1e6, 0, 0}});
  CHECK(Simulate(list, SlowMachine(3), OneProcessPolicy(), false).seconds == Seconds(2.01e-3));
  StepList both = Devices(2);
  AddExchange(both, {{0, 1e6}, {1e6, 0}});
  CHECK(Simulate(both, SlowMachine(2), OneProcessPolicy(), false).seconds == Seconds(1.01e-3));
}

TEST_CASE("a flow that comes later slows down one that goes on") {
  StepList list = Devices(3);
  AddKernel(list, {0, 0, 5e-4});
  AddExchange(list, {{0, 0, 0}, {1e6, 0, 0}, {1e6, 0, 0}});
  Machine machine = SlowMachine(3);
  machine.links[0].latency = 0;
  const Simulation run = Simulate(list, machine, OneProcessPolicy(), false);
  // 1 alone for 0.5 ms, both share for 1 ms, then 2 has 0.5 MB left and the link for itself.
  CHECK(run.classes[1].end == Seconds(1.5e-3));
  CHECK(run.classes[2].end == Seconds(2e-3));
}

TEST_CASE("devices that share a port share its bandwidth") {
  StepList list = Devices(4);
  // 0 and 1 each read from 2 and 3.
  AddExchange(list, {{0, 0, 1e6, 0}, {0, 0, 0, 1e6}, {0, 0, 0, 0}, {0, 0, 0, 0}});
  Machine machine = SlowMachine(4);
  machine.links[0].latency = 0;
  machine.links[0].shared_by = 2;
  machine.links[0].bandwidth = 5e8;
  list.port_of[0] = {0, 0, 1, 1};
  list.on_port[0] = {1, 1, 1, 1};
  CHECK(Simulate(list, machine, OneProcessPolicy(), false).seconds == Seconds(2e-3));
}

TEST_CASE("messages over several kinds of links follow each other") {
  StepList list = Devices(2);
  AddExchange(list, {{0, 1e6}, {0, 0}}, {1e6, 0});
  Machine machine = SlowMachine(1);
  machine.links.push_back({"outer", 2, 1e-4, 5e8, 1, {}});
  list.port_of.push_back({0, 1});
  list.on_port.push_back({1, 1});
  list.exchanges[0][0].inflows.push_back({1, 1, 1e6, 2});
  // 10 us + 1 ms, 2 * 100 us + 2 ms, and 0.1 ms in the device's own memory.
  CHECK(Simulate(list, machine, OneProcessPolicy(), false).seconds == Seconds(3.31e-3));
}

TEST_CASE("a library's collective begins when all are there and takes what is measured") {
  StepList list = Devices(2);
  AddKernel(list, {1e-3, 0});
  AddExchange(list, {{0, 1e6}, {1e6, 0}});
  for (ExchangeTime& each : list.exchanges[0]) each.collective_seconds = 4e-4;
  const Simulation run = Simulate(list, SlowMachine(2), OneProcessPolicy(), false);
  CHECK(run.seconds == Seconds(1.4e-3));
  CHECK(run.classes[1].waiting == Seconds(1e-3));
}

TEST_CASE("one process starts the instructions of its devices in turns") {
  Machine machine = SlowMachine(2);
  machine.device.issue = 1e-4;
  StepList list = Devices(2);
  for (int i = 0; i < 3; ++i) AddKernel(list, {5e-5, 5e-5});
  const Simulation one = Simulate(list, machine, OneProcessPolicy(), true);
  CHECK(one.seconds == Seconds(3 * 2e-4 + 5e-5));  // the host is the slowest
  CHECK(one.classes[0].starting == Seconds(2e-4 + 2 * 1.5e-4));
  list.process_of = {0, 1};
  CHECK(Simulate(list, machine, RanksPolicy(Sums::kOrdered), false).seconds ==
        Seconds(3 * 1e-4 + 5e-5));
}

TEST_CASE("hosts that wait for each other start no kernel behind an exchange before it") {
  Machine machine = SlowMachine(2);
  machine.device.issue = 1e-4;
  StepList list = Devices(2);
  list.process_of = {0, 1};
  // Device 1 has an instruction that device 0 does not have, so its host comes later.
  AddKernel(list, {0, 0});
  list.kernels[0][0].runs = false;
  AddExchange(list, {{0, 1e3}, {0, 0}});
  AddKernel(list, {0, 0});
  machine.links[0].latency = 0;
  RunPolicy policy;
  policy.one_process = false;
  // Host 1 comes to the exchange after 0.2 ms, only then does host 0 start to copy; both start the
  // kernel behind it after 0.3 ms.
  const Simulation waits = Simulate(list, machine, policy, false);
  CHECK(waits.classes[0].end == Seconds(3e-4));
  policy.hosts_wait = false;
  const Simulation ahead = Simulate(list, machine, policy, false);
  // The copy comes after 0.2 ms all the same; the kernel has been started by then.
  CHECK(ahead.classes[0].end == Seconds(2e-4 + 1e-6));
}

TEST_CASE("an exchange on a stream of its own runs beside kernels that do not need it") {
  StepList list = Devices(2);
  AddKernel(list, {1e-3, 1e-3});
  AddExchange(list, {{0, 1e6}, {1e6, 0}});
  AddKernel(list, {2e-3, 2e-3});  // beside the exchange
  AddKernel(list, {5e-4, 5e-4});  // reads what it brought
  list.steps[1].after = 0;
  list.steps[3].after = 1;
  CHECK(Simulate(list, SlowMachine(2), OneProcessPolicy(), false).seconds == Seconds(4.51e-3));
  const Simulation apart = Simulate(list, SlowMachine(2), RanksPolicy(Sums::kOrdered), false);
  CHECK(apart.seconds == Seconds(3.5e-3));
  CHECK(apart.classes[0].exchanges == Seconds(1.01e-3));
  CHECK(apart.classes[0].waiting == 0);
  // What needs it at once waits for it.
  list.steps[2].after = 1;
  CHECK(Simulate(list, SlowMachine(2), RanksPolicy(Sums::kOrdered), false).classes[0].waiting ==
        Seconds(1.01e-3));
}

TEST_CASE("devices that share processors get equal parts of them") {
  Machine machine = SlowMachine(3);
  machine.device.processors = 2;
  StepList list = Devices(3);
  AddKernel(list, {1e-3, 1e-3, 2e-3});
  const Simulation run = Simulate(list, machine, OneProcessPolicy(), false);
  // Three threads on two processors: 1 ms takes 1.5 ms. Then the third has 1 ms left and one alone.
  CHECK(run.classes[0].end == Seconds(1.5e-3));
  CHECK(run.classes[2].end == Seconds(2.5e-3));
  // A kernel of two threads alone has both.
  StepList alone = Devices(1);
  AddKernel(alone, {1e-3});
  alone.kernels[0][0].start = 1e-4;
  alone.kernels[0][0].processors = 2;
  CHECK(Simulate(alone, machine, OneProcessPolicy(), false).seconds == Seconds(6e-4));
}

TEST_CASE("a class of devices takes as long as its devices one by one") {
  // 4 devices gather from each other while 2 of them also read from a fifth and a sixth.
  StepList each = Devices(6);
  std::vector<std::vector<double>> bytes(6, std::vector<double>(6, 0));
  for (int d = 0; d < 4; ++d) {
    for (int s = 0; s < 4; ++s) bytes[d][s] = d == s ? 0 : 1e6;
    for (int s = 4; s < 6; ++s) bytes[d][s] = 5e5;
  }
  Machine machine = SlowMachine(6);
  machine.device.issue = 3e-4;
  for (int i = 0; i < 3; ++i) {
    AddKernel(each, {1e-3, 1e-3, 1e-3, 1e-3, 2e-4, 2e-4});
    AddExchange(each, bytes);
  }
  StepList classes;
  classes.class_sizes = {4, 2};
  classes.class_of = {0, 0, 0, 0, 1, 1};
  classes.in_process = {4, 2};
  classes.process_of = {0, 0};
  classes.on_port = {{1, 1}};
  classes.port_of = {{0, 1}};
  for (int i = 0; i < 3; ++i) {
    AddKernel(classes, {1e-3, 2e-4});
    AddExchange(classes, {{3e6, 1e6}, {0, 0}});
    classes.exchanges.back()[0].inflows[0].messages = 3;
    classes.exchanges.back()[0].inflows[1].messages = 2;
  }
  const Simulation one_by_one = Simulate(each, machine, OneProcessPolicy(), false);
  const Simulation by_class = Simulate(classes, machine, OneProcessPolicy(), false);
  CHECK(by_class.seconds == Seconds(one_by_one.seconds));
  CHECK(by_class.classes[0].waiting == Seconds(one_by_one.classes[3].waiting));
  CHECK(by_class.classes[1].waiting == Seconds(one_by_one.classes[5].waiting));
}

}  // namespace
}  // namespace yuba::runtime
