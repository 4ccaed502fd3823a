// Seconds of kernels, kinds of links between devices, the mesh of a machine, collectives between
// the sizes that were measured.
#include "opsemantics/machine/machine.h"

#include <catch2/catch.hpp>

#include "opsemantics/machine/collective_table.h"
#include "opsemantics/machine/machine_hash.h"
#include "opsemantics/machine/machine_mesh.h"
#include "opsemantics/sharding/mesh_text.h"
#include "tests/support/status_matchers.h"

namespace yuba {
namespace {

// Groups of these many devices; rates of 100 operations and 10 bytes a second.
Machine With(std::vector<int> groups) {
  Machine machine;
  machine.name = "small";
  for (const int devices : groups) {
    LinkModel link;
    link.devices = devices;
    link.bandwidth = 100;
    machine.links.push_back(link);
  }
  machine.device.bandwidth = 10;
  machine.device.rates = {{ElementType::kF32, 100}, {ElementType::kBF16, 1000}};
  return machine;
}

std::string MeshTextOf(const Machine& machine, int devices) {
  const absl::StatusOr<Mesh> mesh = MeshOfMachine(machine, devices);
  REQUIRE_THAT(mesh, IsOk());
  CHECK(mesh->devices() == devices);
  return MeshText(*mesh);
}

TEST_CASE("the kind between two devices is that of the innermost group that both are in") {
  const Machine machine = With({2, 8, 32});
  CHECK(machine.devices() == 32);
  CHECK(KindBetween(machine, 5, 5) == 0);
  CHECK(KindBetween(machine, 4, 5) == 0);
  CHECK(KindBetween(machine, 5, 6) == 1);
  CHECK(KindBetween(machine, 7, 8) == 2);
  CHECK(KindBetween(machine, 31, 0) == 2);
}

TEST_CASE("a mesh axis crosses the links of its kind alone") {
  for (const int devices : {1, 2, 4, 8, 16, 24, 32}) {
    const Machine machine = With({2, 8, 32});
    const Mesh mesh = MeshOfMachine(machine, devices).value();
    for (size_t axis = 0; axis < mesh.axes.size(); ++axis) {
      for (int device = 0; device < devices; ++device) {
        if (mesh.coordinate(device, static_cast<int>(axis)) != 0) continue;
        int inner = 1;  // devices between neighbours on the axis
        for (size_t a = axis + 1; a < mesh.axes.size(); ++a) inner *= mesh.axes[a].size;
        for (int step = 1; step < mesh.axes[axis].size; ++step) {
          CHECK(KindBetween(machine, device, device + step * inner) == mesh.axes[axis].kind);
        }
      }
    }
  }
}

TEST_CASE("meshes of a machine") {
  const Machine nodes = With({8, 512});
  CHECK(MeshTextOf(nodes, 1) == "one device");
  CHECK(MeshTextOf(nodes, 6) == "a=3 b=2");
  CHECK(MeshTextOf(nodes, 8) == "a=2 b=2 c=2");
  CHECK(MeshTextOf(nodes, 16) == "a=2(kind 1) b=2 c=2 d=2");
  CHECK(MeshTextOf(nodes, 48) == "a=3(kind 1) b=2(kind 1) c=2 d=2 e=2");
  CHECK(MeshTextOf(With({4}), 4) == "a=2 b=2");
  CHECK(MeshTextOf(With({2, 8, 32}), 16) == "a=2(kind 2) b=2(kind 1) c=2(kind 1) d=2");
  CHECK(MeshTextOf(With({1, 4}), 3) == "a=3(kind 1)");
}

TEST_CASE("devices that fill no group are refused, with the numbers that do") {
  const Machine nodes = With({8, 64});
  const auto refused = absl::StatusCode::kInvalidArgument;
  CHECK_THAT(MeshOfMachine(nodes, 12), StatusIs(refused, "12 devices fill a part of one group"));
  CHECK_THAT(MeshOfMachine(nodes, 12), StatusIs(refused, "1 to 8, or a multiple of 8 up to 64"));
  CHECK_THAT(MeshOfMachine(nodes, 72), StatusIs(refused, "72 devices: small has 64"));
  CHECK_THAT(MeshOfMachine(nodes, 0), StatusIs(refused, "0 devices: small has 64"));
  CHECK_THAT(MeshOfMachine(With({2, 8, 32}), 12), StatusIs(refused, "a multiple of 8 up to 32"));
}

TEST_CASE("a kernel takes its start and the longer of computing and moving") {
  Machine machine = With({1});
  KernelModel& product = machine.device.kernels[true][static_cast<int>(KernelClass::kProduct)];
  product = {3, 0.5, 0.1, 0};
  KernelWork work;
  work.kernel_class = KernelClass::kProduct;
  work.library = true;
  work.operations = 200;
  work.bytes = 2;
  CHECK(KernelSeconds(machine, work) == 3 + 4);
  work.bytes = 20;
  CHECK(KernelSeconds(machine, work) == 3 + 20);
  product.half_rate = 6;  // results
  work.results = 6;
  CHECK(KernelSeconds(machine, work) == 3 + 40);
  work.results = 12;
  CHECK(KernelSeconds(machine, work) == 3 + 30);
  work.operations = work.bytes = 0;
  CHECK(KernelSeconds(machine, work) == 3);
}

TEST_CASE("extras count as further operations") {
  Machine machine = With({1});  // 100 operations a second
  KernelModel& map = machine.device.kernels[false][static_cast<int>(KernelClass::kMap)];
  map = {0, 1, 1, 0};
  KernelWork work;
  work.operations = 200;
  work.extras[static_cast<int>(Extra::kPower)] = 10;
  CHECK(KernelSeconds(machine, work) == 2);
  map.extra_operations[static_cast<int>(Extra::kPower)] = 30;
  CHECK(KernelSeconds(machine, work) == 5);
}

TEST_CASE("generated code computes small floats at the rate of their accumulators") {
  Machine machine = With({1});
  for (auto& models : machine.device.kernels) models[0] = {0, 1, 1, 0};
  KernelWork work;
  work.kernel_class = KernelClass::kProduct;
  work.type = ElementType::kBF16;
  work.operations = 1000;
  CHECK(KernelSeconds(machine, work) == 10);
  work.library = true;
  CHECK(KernelSeconds(machine, work) == 1);
}

TEST_CASE("virtual devices share processors") {
  Machine machine = With({8});
  CHECK(SpeedShare(machine, 8) == 1);
  machine.device.processors = 2;
  CHECK(SpeedShare(machine, 1) == 1);
  CHECK(SpeedShare(machine, 8) == 0.125);
}

TEST_CASE("collectives between the sizes that were measured") {
  LinkModel link;
  link.latency = 1;
  link.bandwidth = 10;
  link.tables = {{"all_gather", 2, false, {{100, 6}, {200, 8}, {400, 16}}}};
  const auto seconds = [&](double bytes) {
    return MeasuredSeconds(link, "all_gather", 2, false, bytes).value();
  };
  CHECK(seconds(1) == 6);
  CHECK(seconds(100) == 6);
  CHECK(seconds(150) == 7);
  CHECK(seconds(300) == 12);
  CHECK(seconds(800) == 32);
  CHECK_FALSE(MeasuredSeconds(link, "all_gather", 4, false, 100).has_value());
  CHECK_FALSE(MeasuredSeconds(link, "all_gather", 2, true, 100).has_value());
  CHECK_FALSE(MeasuredSeconds(link, "all_reduce", 2, false, 100).has_value());
}

TEST_CASE("bytes of a collective are those that its transfers bring") {
  CHECK(BytesReceived("all_gather", 4, 400) == 300);
  CHECK(BytesReceived("reduce_scatter", 4, 400) == 300);
  CHECK(BytesReceived("all_reduce", 4, 400) == 600);
  CHECK(BytesReceived("all_to_all", 4, 400) == 75);
  CHECK(BytesReceived("permute", 4, 400) == 100);
}

TEST_CASE("tables never fall, and nothing is faster than the best rate lets it be") {
  LinkModel link;
  link.latency = 1;
  link.bandwidth = 10;
  CHECK(BestRate(link) == 10);
  // 400 bytes of 2 devices are 400 received in 21 - 1 s: 20 bytes a second, more than the wire.
  link.tables = {{"all_reduce", 2, false, {{100, 8}, {200, 5}, {300, 9}, {400, 21}}}};
  CHECK(BestRate(link) == 20);
  RaiseTables(link);
  using Rows = std::vector<std::pair<double, double>>;
  CHECK(link.tables[0].seconds == Rows{{100, 8}, {200, 11}, {300, 16}, {400, 21}});
  link.tables[0].seconds = {{100, 60}, {200, 50}, {300, 70}};
  RaiseTables(link);
  CHECK(link.tables[0].seconds == Rows{{100, 60}, {200, 60}, {300, 70}});
}

TEST_CASE("the hash is of numbers, and of all of them") {
  Machine machine = With({2, 8});
  machine.links[0].tables = {{"all_reduce", 2, false, {{100, 8}}}};
  const std::string hash = HashOf(machine);
  CHECK(hash.size() == 16);
  const auto changes = [&](const std::function<void(Machine&)>& change) {
    Machine other = machine;
    change(other);
    return HashOf(other) != hash;
  };
  CHECK_FALSE(changes([](Machine& m) { m.name = "other"; }));
  CHECK_FALSE(changes([](Machine& m) { m.device.name = m.links[1].name = "other"; }));
  CHECK_FALSE(changes([](Machine& m) { m.device.kernels_version = "other"; }));
  CHECK(changes([](Machine& m) { m.nodes = 2; }));
  CHECK(changes([](Machine& m) { m.price = 2; }));
  CHECK(changes([](Machine& m) { m.device.memory = 2; }));
  CHECK(changes([](Machine& m) { m.device.reserved = 2; }));
  CHECK(changes([](Machine& m) { m.device.bandwidth = 2; }));
  CHECK(changes([](Machine& m) { m.device.launch = 2; }));
  CHECK(changes([](Machine& m) { m.device.issue = 2; }));
  CHECK(changes([](Machine& m) { m.device.processors = 2; }));
  CHECK(changes([](Machine& m) { m.device.rates[ElementType::kBF16] = 2; }));
  CHECK(changes([](Machine& m) { m.device.kernels[1][3].start = 2; }));
  CHECK(changes([](Machine& m) { m.device.kernels[0][3].rate_share = 2; }));
  CHECK(changes([](Machine& m) { m.device.kernels[0][2].bandwidth_share = 2; }));
  CHECK(changes([](Machine& m) { m.device.kernels[1][0].half_rate = 2; }));
  CHECK(changes([](Machine& m) { m.links[1].devices = 16; }));
  CHECK(changes([](Machine& m) { m.links[1].shared_by = 2; }));
  CHECK(changes([](Machine& m) { m.links[1].latency = 2; }));
  CHECK(changes([](Machine& m) { m.links[1].bandwidth = 2; }));
  CHECK(changes([](Machine& m) { m.links[0].tables[0].seconds[0].second = 9; }));
  CHECK(changes([](Machine& m) { m.links[0].tables[0].seconds[0].first = 9; }));
  CHECK(changes([](Machine& m) { m.links[0].tables[0].one_process = true; }));
  CHECK(changes([](Machine& m) { m.links[0].tables[0].devices = 3; }));
  CHECK(changes([](Machine& m) { m.links[0].tables[0].collective = "all_gather"; }));
  CHECK(changes([](Machine& m) { std::swap(m.links[0].tables, m.links[1].tables); }));
}

}  // namespace
}  // namespace yuba
