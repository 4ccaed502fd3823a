// The order of an exchange's steps, and what it counts, with steps that only write down that they
// were made.
#include "runtime/exchange_protocol.h"

#include <catch2/catch.hpp>
#include <string>

namespace yuba::runtime {
namespace {

class Recorder : public ExchangeSteps {
 public:
  absl::Status Arrive(int device, int) override { return Note("arrive", device); }
  absl::Status Copy(int device, int, const ExchangePlan&) override { return Note("copy", device); }
  absl::Status Depart(int device, int, const ExchangePlan&) override {
    return Note("depart", device);
  }

  std::string log;
  std::string fail;  // the step that fails

 private:
  absl::Status Note(const std::string& step, int device) {
    log += step + std::to_string(device) + " ";
    return step == fail ? absl::InternalError("failed") : absl::OkStatus();
  }
};

// An exchange of two devices: device 0 copies 8 and 2 elements of 4 bytes from device 1 and 100 of
// its own, and combines 3 of each of the two; device 1 does nothing.
ExchangePlan FromTheSecond() {
  const auto walk = [](int64_t elements) {
    const Box box = {{0, elements}};
    return WalkOf(box, {box, box});
  };
  ExchangePlan plan;
  plan.source_element_bytes = 4;
  plan.devices.resize(2);
  plan.devices[0].pieces = {{1, {}, walk(8)}, {0, {}, walk(100)}, {1, {}, walk(2)}};
  plan.devices[0].cells = {{{0, 1}, {}, walk(3)}};
  ListPeers(plan);
  return plan;
}

// A protocol on steps that the test still sees.
struct Fixture {
  Recorder* steps = new Recorder;
  ExchangeProtocol protocol{std::unique_ptr<ExchangeSteps>(steps), 2, 5};
  ExchangePlan plan = FromTheSecond();
  Progress Advance(int device) { return protocol.Advance(device, 3, plan).value(); }
};

TEST_CASE("a plan says what each device receives from each other one") {
  const ExchangePlan plan = FromTheSecond();
  CHECK(plan.devices[0].sources == std::vector<int>{1});
  CHECK(plan.devices[0].received == std::vector<int64_t>{(8 + 2 + 3) * 4});
  CHECK(plan.devices[0].readers.empty());
  CHECK(plan.devices[1].sources.empty());
  CHECK(plan.devices[1].received.empty());
  CHECK(plan.devices[1].readers == std::vector<int>{0});
}

TEST_CASE("a device copies when its source has come, which goes on when it was read") {
  Fixture two;
  CHECK(two.Advance(0) == Progress::kAdvanced);
  CHECK(two.Advance(0) == Progress::kBlocked);
  CHECK(two.protocol.WaitsFor(0, two.plan) == 1);
  CHECK(two.Advance(1) == Progress::kAdvanced);
  CHECK(two.protocol.WaitsFor(0, two.plan) == -1);
  CHECK(two.Advance(1) == Progress::kAdvanced);  // it reads nobody
  CHECK(two.Advance(1) == Progress::kBlocked);
  CHECK(two.protocol.WaitsFor(1, two.plan) == 0);
  CHECK(two.Advance(0) == Progress::kAdvanced);
  CHECK(two.Advance(1) == Progress::kDone);
  CHECK(two.Advance(1) == Progress::kAdvanced);  // the next exchange
  CHECK(two.Advance(0) == Progress::kDone);
  CHECK(two.steps->log == "arrive0 arrive1 copy1 copy0 depart1 arrive1 depart0 ");
}

TEST_CASE("a copy counts once what the plan says, on the device that receives") {
  Fixture two;
  for (int device : {1, 0, 0}) two.Advance(device);
  CHECK(two.protocol.traffic(0).received == std::vector<int64_t>{0, 0, 0, 52, 0});
  CHECK(two.protocol.traffic(0).received_from == std::vector<int64_t>{0, 52});
  two.Advance(1);
  CHECK(two.protocol.traffic(1).received == std::vector<int64_t>(5));
  CHECK(two.protocol.traffic(1).received_from == std::vector<int64_t>(2));
}

TEST_CASE("a copy that failed counts nothing, and after a reset the exchange starts again") {
  Fixture two;
  two.steps->fail = "copy";
  for (int device : {1, 0}) two.Advance(device);
  CHECK(two.protocol.Advance(0, 3, two.plan).status().code() == absl::StatusCode::kInternal);
  CHECK(two.protocol.traffic(0).received_from == std::vector<int64_t>{0, 0});
  two.protocol.Abort(absl::CancelledError("test"));
  CHECK(two.protocol.Advance(0, 3, two.plan).status().code() == absl::StatusCode::kCancelled);
  two.protocol.Reset();
  CHECK(two.steps->log == "arrive1 arrive0 copy0 ");
  two.steps->fail = "";
  for (int device : {1, 0, 0}) two.Advance(device);
  CHECK(two.protocol.traffic(0).received_from == std::vector<int64_t>{0, 52});
}

}  // namespace
}  // namespace yuba::runtime
