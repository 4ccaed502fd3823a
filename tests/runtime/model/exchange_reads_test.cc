// Who receives what from whom: what the plan says that the run time copies by.
#include "runtime/model/exchange_reads.h"

#include <catch2/catch.hpp>
#include <random>

#include "opsemantics/base/collectives.h"
#include "runtime/exchange_plan.h"
#include "tests/runtime/program_builder.h"
#include "tests/support/part.h"
#include "tests/support/status_matchers.h"

namespace yuba::runtime {
namespace {

using Random = std::mt19937;

int64_t Pick(Random& random, int64_t low, int64_t high) {
  return std::uniform_int_distribution<int64_t>(low, high)(random);
}

void CheckSame(const ExchangeReads& reads, const ExchangePlan& plan) {
  REQUIRE(reads.reads.size() == plan.devices.size());
  for (size_t d = 0; d < plan.devices.size(); ++d) {
    std::vector<int> sources;
    std::vector<int64_t> received;
    for (const Read& read : reads.reads[d]) {
      sources.push_back(read.source);
      received.push_back(read.bytes);
    }
    CHECK(sources == plan.devices[d].sources);
    CHECK(received == plan.devices[d].received);
    int64_t local = 0;
    for (const Piece& piece : plan.devices[d].pieces) {
      if (piece.source == static_cast<int>(d))
        local +=
            piece.walk.elements() * (plan.source_element_bytes + plan.destination_element_bytes);
    }
    for (const Cell& cell : plan.devices[d].cells) {
      local += cell.walk.elements() * plan.destination_element_bytes;
      for (const int source : cell.sources)
        local +=
            source == static_cast<int>(d) ? cell.walk.elements() * plan.source_element_bytes : 0;
    }
    CHECK(reads.local_bytes[d] == local);
  }
}

// A box of the whole that a device has: parts along some axes, so that devices may have equal ones,
// or any box.
std::vector<Box> SomeBoxes(Random& random, const std::vector<int64_t>& dims, int devices) {
  std::vector<Box> boxes(devices);
  const bool any = Pick(random, 0, 3) == 0;
  const int64_t parts = Pick(random, 1, devices), along = Pick(random, 0, dims.size() - 1);
  for (int d = 0; d < devices; ++d) {
    boxes[d] = WholeBox(dims);
    if (!any) {
      boxes[d][along] = PartOf(dims[along], static_cast<int>(parts), d % static_cast<int>(parts));
      continue;
    }
    for (size_t i = 0; i < dims.size(); ++i) {
      const int64_t a = Pick(random, 0, dims[i]), b = Pick(random, 0, dims[i]);
      boxes[d][i] = {std::min(a, b), std::max(a, b)};
    }
  }
  return boxes;
}

std::vector<int64_t> SomeDims(Random& random) {
  std::vector<int64_t> dims(Pick(random, 1, 3));
  for (int64_t& dim : dims) dim = Pick(random, 1, 7);
  return dims;
}

TEST_CASE("a gather and a reduction receive what the run time's plan copies") {
  Random random(4);
  for (int round = 0; round < Part(900); ++round) {
    const int devices = static_cast<int>(Pick(random, 1, 6));
    const std::vector<int64_t> dims = SomeDims(random);
    ProgramBuilder builder({devices});
    const int source = builder.AddBuffer("x", program::F32, dims, SomeBoxes(random, dims, devices));
    const int partials = static_cast<int>(Pick(random, 1, 3));
    const bool reduces = partials > 1 && Pick(random, 0, 1) == 1;
    // Owners have parts of their own, or the same part.
    std::vector<Box> own(devices, WholeBox(dims));
    const int owners = static_cast<int>(Pick(random, 1, devices));
    for (int d = 0; d < devices; ++d) own[d][0] = PartOf(dims[0], owners, d % owners);
    const int destination = builder.AddBuffer("y", program::F32, dims,
                                              reduces ? own : SomeBoxes(random, dims, devices));
    program::Exchange* exchange = nullptr;
    if (reduces) {
      std::vector<int64_t> partial;
      for (int d = 0; d < devices; ++d) partial.push_back(Pick(random, 0, partials - 1));
      exchange = builder.AddReduction(source, destination, program::SUM, partials, partial);
    } else {
      exchange = builder.AddExchange(source, destination);
      exchange->set_from_first_only(Pick(random, 0, 1) == 1);
    }
    const auto program = builder.Load();
    const program::Exchange& loaded = program->instructions()[0].exchange();
    INFO("round " << round);
    CheckSame(ReadsOf(*program, loaded), PlanExchange(*program, loaded));
  }
}

TEST_CASE("a collective is read in its groups") {
  // Mesh a=2 b=3: halves over a, and each group of b gathers thirds of its half.
  const std::vector<int64_t> dims = {12, 4};
  std::vector<Box> parts, halves;
  for (int d = 0; d < 6; ++d) {
    parts.push_back(WholeBox(dims));
    parts.back()[0] = PartOf(12, 6, d);
    halves.push_back(WholeBox(dims));
    halves.back()[0] = PartOf(12, 2, d / 3);
  }
  ProgramBuilder builder({2, 3});
  const int x = builder.AddBuffer("x", program::F32, dims, parts);
  const int y = builder.AddBuffer("y", program::F32, dims, halves);
  program::Exchange* gather = builder.AddExchange(x, y);
  gather->set_collective(CollectiveNumber("all_gather"));
  gather->add_axes(1);
  // In y every device now has a partial of its half; its group adds them up into thirds.
  const int z = builder.AddBuffer("z", program::F32, dims, parts);
  program::Exchange* reduce = builder.AddReduction(y, z, program::SUM, 3, {0, 1, 2, 0, 1, 2});
  reduce->set_collective(CollectiveNumber("reduce_scatter"));
  reduce->add_axes(1);
  const auto program = builder.Load();
  for (const int i : {0, 1}) {
    const program::Exchange& loaded = program->instructions()[i].exchange();
    const auto plan = PlanCollective(*program, loaded);
    REQUIRE_THAT(plan, IsOk());
    CheckSame(ReadsOf(*program, loaded), *plan);
  }
  const ExchangeReads reads = ReadsOf(*program, program->instructions()[0].exchange());
  CHECK(reads.library_devices == 3);
  CHECK(reads.library_bytes == 4 * 6 * 4);
  CHECK(ReadsOf(*program, program->instructions()[1].exchange()).library_devices == 3);
}

TEST_CASE("a library gathers only what lies side by side") {
  const std::vector<int64_t> dims = {4, 6};
  for (const int along : {0, 1}) {
    ProgramBuilder builder({2});
    const int x = builder.AddBuffer("x", program::F32, dims, CutAlong(dims, along, 2));
    const int y = builder.AddBuffer("y", program::F32, dims, std::vector<Box>(2, WholeBox(dims)));
    program::Exchange* gather = builder.AddExchange(x, y);
    gather->set_collective(CollectiveNumber("all_gather"));
    gather->add_axes(0);
    const auto program = builder.Load();
    const ExchangeReads reads = ReadsOf(*program, program->instructions()[0].exchange());
    CHECK(reads.library_devices == (along == 0 ? 2 : 0));
  }
}

}  // namespace
}  // namespace yuba::runtime
