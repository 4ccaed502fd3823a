// All-reduces that a library does in one call: where they are taken for one, and how long they
// take.
#include <catch2/catch.hpp>
#include <utility>

#include "runtime/model/predict.h"
#include "runtime/program/program.h"
#include "tests/support/status_matchers.h"
#include "tools/calibrate/exchange_program.h"

namespace yuba::runtime {
namespace {

constexpr int kDevices = 4;
constexpr int64_t kBytes = 1 << 20;
constexpr double kMeasured = 3e-3;

// An all-reduce of kBytes among kDevices was timed, by one process.
Machine Timed() {
  Machine machine;
  machine.name = "timed";
  machine.device.bandwidth = 1e12;
  machine.links.push_back({"link", kDevices, 1e-6, 1e9, 1, {}});
  machine.links[0].tables.push_back({"all_reduce", kDevices, true, {{kBytes, kMeasured}}});
  return machine;
}

double Exchanges(const program::Program& message, const Machine& machine, const RunPolicy& policy) {
  program::Program program = message;
  const auto loaded = LoadedProgram::FromMessage(std::move(program));
  REQUIRE_THAT(loaded, IsOk());
  const auto step = PredictStep(**loaded, machine, policy);
  REQUIRE_THAT(step, IsOk());
  return step->kinds.exchanges;
}

RunPolicy Library() {
  RunPolicy policy = OneProcessPolicy();
  policy.sums = Sums::kFast;
  return policy;
}

TEST_CASE("an all-reduce takes what was measured of it where a library does it") {
  const program::Program sum = tools::ExchangeProgram("all_reduce", kDevices, kBytes);
  CHECK(Exchanges(sum, Timed(), Library()) == Approx(kMeasured));
  // Today's run time copies: three quarters come from others, to be added up and as sums.
  const double copies = Exchanges(sum, Timed(), OneProcessPolicy());
  CHECK(copies > 2 * 0.75 * kBytes / 1e9);
  CHECK(copies < 0.9 * kMeasured);
}

TEST_CASE("what was not timed is copied, as without a library") {
  const program::Program sum = tools::ExchangeProgram("all_reduce", kDevices, kBytes);
  const double copies = Exchanges(sum, Timed(), OneProcessPolicy());
  RunPolicy processes = Library();
  processes.one_process = false;
  CHECK(Exchanges(sum, Timed(), processes) == Approx(copies));
  Machine others = Timed();
  others.links[0].tables[0].devices = 2;
  CHECK(Exchanges(sum, others, Library()) == Approx(copies));
}

TEST_CASE("a sum alone, or a gather alone, is no all-reduce") {
  for (const char* collective : {"reduce_scatter", "all_gather", "all_to_all", "permute"}) {
    INFO(collective);
    const program::Program alone = tools::ExchangeProgram(collective, kDevices, kBytes);
    CHECK(Exchanges(alone, Timed(), Library()) ==
          Approx(Exchanges(alone, Timed(), OneProcessPolicy())));
  }
}

}  // namespace
}  // namespace yuba::runtime
