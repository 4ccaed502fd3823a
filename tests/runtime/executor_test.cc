// When a device fails, is late or never comes, all devices end, with an error that says who and
// where.
#include <atomic>
#include <catch2/catch.hpp>
#include <chrono>
#include <thread>

#include "opsemantics/base/status.h"
#include "tests/runtime/program_builder.h"
#include "tests/support/status_matchers.h"

namespace yuba::runtime {
namespace {

constexpr int kAlways = 1 << 30;

// Passes everything on to `device`, except that Run at one instruction fails or is late, the first
// `times` times.
class BrokenDevice : public Device {
 public:
  BrokenDevice(std::unique_ptr<Device> device, int instruction, absl::Status failure, double delay,
               int times)
      : device_(std::move(device)),
        instruction_(instruction),
        failure_(failure),
        delay_(delay),
        times_(times) {}

  char* arena() override { return device_->arena(); }
  absl::Status Write(int64_t offset, const char* data, int64_t bytes) override {
    return device_->Write(offset, data, bytes);
  }
  absl::Status Read(int64_t offset, char* data, int64_t bytes) override {
    return device_->Read(offset, data, bytes);
  }
  absl::Status Fill(int64_t offset, char value, int64_t bytes) override {
    return device_->Fill(offset, value, bytes);
  }
  absl::Status Prepare(const LoadedProgram& program, const ArenaLayout& layout) override {
    return device_->Prepare(program, layout);
  }
  absl::Status Run(int instruction) override {
    if (instruction == instruction_ && times_-- > 0) {
      std::this_thread::sleep_for(std::chrono::duration<double>(delay_));
      if (!failure_.ok()) return failure_;
    }
    return device_->Run(instruction);
  }
  absl::Status Synchronize(const std::atomic<bool>& give_up) override {
    return device_->Synchronize(give_up);
  }
  absl::StatusOr<BadIndex> TakeBadIndex() override { return device_->TakeBadIndex(); }
  absl::Status EnterThread() override { return device_->EnterThread(); }
  int64_t workspace_bytes() const override { return device_->workspace_bytes(); }
  int64_t library_calls() const override { return device_->library_calls(); }

 private:
  std::unique_ptr<Device> device_;
  int instruction_;
  absl::Status failure_;
  double delay_;
  int times_;
};

// y = x w on each device's rows, then everybody gathers y.
ProgramBuilder ProductAndGather(int devices) {
  ProgramBuilder builder({devices});
  const std::vector<Box> rows = CutAlong({8, 4}, 0, devices);
  const int x = builder.AddBuffer("x", program::F32, {8, 4}, rows);
  const int w =
      builder.AddBuffer("w", program::F32, {4, 4}, std::vector<Box>(devices, WholeBox({4, 4})));
  const int y = builder.AddBuffer("y", program::F32, {8, 4}, rows);
  const int all =
      builder.AddBuffer("all", program::F32, {8, 4}, std::vector<Box>(devices, WholeBox({8, 4})));
  program::LibraryCall call;
  call.set_left(0);
  call.set_right(1);
  auto index = [](program::LibraryIndex* added, int number, int left, int right, int result) {
    added->set_index(number);
    added->set_left_dim(left);
    added->set_right_dim(right);
    added->set_result_dim(result);
  };
  index(call.add_rows(), 0, 0, -1, 0);
  index(call.add_columns(), 1, -1, 1, 1);
  index(call.add_inner(), 2, 1, 0, -1);
  std::vector<Interval> parts;
  for (const Box& box : rows) parts.push_back(box[0]);
  const std::vector<Interval> whole(devices, {0, 4});
  builder.AddLibraryKernel(call, {parts, whole, whole}, {x, w}, y)->set_from(0, "MatMul_7");
  builder.AddExchange(y, all);
  builder.AddInput("x", x);
  builder.AddInput("w", w);
  builder.AddOutput("all", all);
  return builder;
}

void Break(Session& session, int device, absl::Status failure, double delay, int times = kAlways) {
  std::unique_ptr<Device>& broken = session.fleet().devices[device];
  broken = std::make_unique<BrokenDevice>(std::move(broken), 0, failure, delay, times);
}

TEST_CASE("a device that fails ends the step everywhere and is named") {
  for (bool interleave : {false, true}) {
    RunOptions options;
    options.interleave = interleave;
    auto session = OpenSession(ProductAndGather(4).Load(), options);
    REQUIRE_THAT(session->Randomize(1), IsOk());
    Break(*session, 2, InternalError("the kernel fell over"), 0);
    for (int step = 0; step < 2; ++step) {  // and again, from the start
      CHECK_THAT(
          session->Step(),
          StatusIs(absl::StatusCode::kInternal,
                   "device 2, instruction 0 (kernel y, from MatMul_7): the kernel fell over"));
    }
  }
}

TEST_CASE("a device that holds the others up is named") {
  RunOptions options;
  options.timeout_seconds = 0.5;
  auto session = OpenSession(ProductAndGather(4).Load(), options);
  REQUIRE_THAT(session->Randomize(1), IsOk());
  REQUIRE_THAT(session->Step(), IsOk());
  Break(*session, 1, absl::OkStatus(), 1.5);
  const absl::Status status = session->Step();
  CHECK_THAT(status, StatusIs(absl::StatusCode::kDeadlineExceeded,
                              "device 1, instruction 0 (kernel y, from MatMul_7): nothing has "
                              "ended on any device for 0.5 s"));
}

TEST_CASE("a session can step on after a failure") {
  auto session = OpenSession(ProductAndGather(3).Load());
  REQUIRE_THAT(session->Randomize(1), IsOk());
  REQUIRE_THAT(session->Step(), IsOk());
  const TensorData before = *session->Get("all");
  Break(*session, 2, InternalError("once"), 0, 1);
  REQUIRE_THAT(session->Step(), StatusIs(absl::StatusCode::kInternal, "once"));
  REQUIRE_THAT(session->Step(), IsOk());
  CHECK(session->Get("all")->data == before.data);
}

// Exchanges in which each device waits for the next one.
class Stuck : public Communicator {
 public:
  explicit Stuck(int devices) : devices_(devices) { traffic_.received_from.resize(devices); }
  absl::StatusOr<Progress> Advance(int, int, const ExchangePlan&) override {
    return Progress::kBlocked;
  }
  void Wait(int, const ExchangePlan&) override {
    while (!aborted_) std::this_thread::yield();
  }
  int WaitsFor(int device, const ExchangePlan&) const override { return (device + 1) % devices_; }
  void Abort(const absl::Status&) override { aborted_ = true; }
  bool aborted() const override { return aborted_; }
  void Reset() override { aborted_ = false; }
  const Traffic& traffic(int) const override { return traffic_; }

 private:
  const int devices_;
  std::atomic<bool> aborted_{false};
  Traffic traffic_;
};

TEST_CASE("devices that wait for each other for ever are an error, not a hang") {
  for (bool interleave : {false, true}) {
    RunOptions options;
    options.interleave = interleave;
    options.timeout_seconds = 0.05;
    auto session = OpenSession(ProductAndGather(3).Load(), options);
    REQUIRE_THAT(session->Randomize(1), IsOk());
    session->fleet().communicator = std::make_unique<Stuck>(3);
    const absl::Status status = session->Step();
    CHECK_THAT(status, Fails("instruction 1 (gather of y for all): "));
    CHECK_THAT(status, Fails(interleave ? "deadlock: waits for device"
                                        : "waits for device 1, and all others wait too"));
  }
}

}  // namespace
}  // namespace yuba::runtime
