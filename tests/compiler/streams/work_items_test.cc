// What the order of exchanges knows of an exchange: how long it takes beside its bytes.
#include "compiler/streams/work_items.h"

#include <catch2/catch.hpp>
#include <vector>

#include "compiler/memory/memory.h"
#include "compiler/spmd/tables.h"
#include "tests/support/machines.h"

namespace yuba::compiler {
namespace {

constexpr double kLatency = 1e-5, kBandwidth = 1e9;

// One exchange of a tensor of 8 elements; from, to: [device].
class OneExchange {
 public:
  OneExchange(const Mesh& mesh, const std::vector<Box>& from, const std::vector<Box>& to)
      : mesh_(mesh) {
    for (const MeshAxis& axis : mesh.axes) {
      program::MeshAxis* added = program_.add_mesh();
      added->set_name(axis.name);
      added->set_size(axis.size);
    }
    for (const std::vector<Box>* boxes : {&from, &to}) {
      program::Buffer* buffer = program_.add_buffers();
      buffer->set_type(program::F32);
      buffer->add_dims(8);
      *buffer->mutable_box() = BoxTable(mesh, *boxes);
    }
    program::Exchange& exchange = *program_.add_instructions()->mutable_exchange();
    exchange.set_partials(1);
    exchange.set_destination(1);
    *exchange.mutable_from() = program_.buffers(0).box();
    *exchange.mutable_to() = program_.buffers(1).box();
    PlanMemory(program_);
  }

  program::Exchange& exchange() { return *program_.mutable_instructions(0)->mutable_exchange(); }

  // Messages that a device waits for, one after the other.
  double Messages() const {
    const Machine machine = *MachineFor(mesh_, {kLatency}, {kBandwidth}, 1e12);
    const auto items = WorkItemsOf(program_, machine);
    REQUIRE(items.size() == 1);
    REQUIRE(items[0].size() == 1);
    return (items[0][0].latency - machine.device.launch) / kLatency;
  }

 private:
  const Mesh mesh_;
  program::Program program_;
};

const Box kWhole = {{0, 8}};
Box Quarter(int64_t n) { return {{2 * n, 2 * n + 2}}; }
Box Half(int64_t n) { return {{4 * n, 4 * n + 4}}; }

TEST_CASE("an exchange has the latency of a message from each device that sends") {
  const Mesh mesh = MeshOf(4);
  const std::vector<Box> quarters = {Quarter(0), Quarter(1), Quarter(2), Quarter(3)};
  const std::vector<Box> whole(4, kWhole);
  CHECK(OneExchange(mesh, quarters, whole).Messages() == Approx(3));
  // Of two devices with one half, one sends it.
  const std::vector<Box> halves = {Half(0), Half(0), Half(1), Half(1)};
  CHECK(OneExchange(mesh, halves, whole).Messages() == Approx(1));
  CHECK(OneExchange(mesh, quarters, halves).Messages() == Approx(1));
  // What moves nothing has one all the same: devices wait for each other.
  CHECK(OneExchange(mesh, whole, quarters).Messages() == Approx(1));
}

TEST_CASE("a device hears those of its group, and each partial comes by itself") {
  const Mesh mesh = MeshOf(4);
  const std::vector<Box> quarters = {Quarter(0), Quarter(1), Quarter(2), Quarter(3)};
  const std::vector<Box> whole(4, kWhole);
  OneExchange grouped(mesh, quarters, whole);
  *grouped.exchange().mutable_group() = BoundTable(mesh, {0, 0, 1, 1});
  CHECK(grouped.Messages() == Approx(1));
  OneExchange summed(mesh, whole, quarters);
  summed.exchange().set_partials(4);
  *summed.exchange().mutable_partial() = BoundTable(mesh, {0, 1, 2, 3});
  CHECK(summed.Messages() == Approx(3));
}

}  // namespace
}  // namespace yuba::compiler
