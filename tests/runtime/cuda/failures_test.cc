// What goes wrong on GPUs ends the run in time, says where it was, and loses no more than it must.

#ifdef YUBA_WITH_CUDA
#include <algorithm>
#include <cmath>

#include "absl/strings/match.h"
#include "opsemantics/base/clock.h"
#include "tests/runtime/cuda/on_fakes.h"
#include "tests/runtime/cuda/programs.h"
#include "tests/support/status_matchers.h"

namespace yuba::cuda {
namespace {

constexpr double kPatience = 1;  // seconds; no step stands still for so long on a busy machine
constexpr double kMostAfterwards = 30;  // 5 on an idle machine

// A session on the program with a value for x, whose steps may stand still for kPatience.
std::unique_ptr<runtime::Session> OpenWithX(const runtime::ProgramBuilder& builder, int64_t length,
                                            double patience = kPatience, bool trace = false) {
  runtime::RunOptions options = OnCuda();
  options.trace = trace;
  options.timeout_seconds = patience;
  auto session = runtime::OpenSession(builder.Load(), options);
  REQUIRE_THAT(session->Set("x", runtime::FloatTensor({length}, WholeNumbers(length))), IsOk());
  return session;
}

absl::Status StepInTime(runtime::Session& session) {
  const Clock::time_point start = Clock::now();
  const absl::Status status = session.Step();
  CHECK(SecondsSince(start) < kPatience + kMostAfterwards);
  return status;
}

TEST_CASE("A failed call ends the run with its words, and the session goes on") {
  for (const char* call : {"cuLaunchKernel", "cudaMemcpyAsync", "cudaStreamQuery"}) {
    for (bool interleave : {false, true}) {
      INFO(call << " interleaved " << interleave);
      OnFakes fakes(1);
      auto session = runtime::OpenSession(TwicePlusOne(2).Load(), OnCuda(interleave));
      const std::vector<float> x = WholeNumbers(kVectorLength);
      REQUIRE_THAT(session->Set("x", runtime::FloatTensor({kVectorLength}, x)), IsOk());
      Fake().fail = call;
      const absl::Status status = session->Step();
      CHECK_THAT(status, StatusIs(absl::StatusCode::kInternal, call));
      CHECK_THAT(status, Fails("the fake"));
      CHECK_THAT(status, Fails("GPU "));
      REQUIRE_THAT(session->Step(), IsOk());
      CHECK(runtime::FloatsOf(*session->Get("y"))[7] == 2 * x[7] + 1);
    }
  }
}

TEST_CASE("A GPU that hangs ends the run, and is named with its instruction") {
  for (const bool trace : {false, true}) {
    OnFakes fakes(1);
    fakes.AllowLeaks();
    {
      auto session = OpenWithX(TwicePlusOne(3), kVectorLength, kPatience, trace);
      REQUIRE_THAT(session->Step(), IsOk());
      Fake().hanging_gpu = 0;
      const absl::Status status = StepInTime(*session);
      CHECK_THAT(status,
                 StatusIs(absl::StatusCode::kDeadlineExceeded,
                          trace ? "devices 0, 1, 2, instruction 0 (kernel y): "
                                : "devices 0, 1, 2, instruction 0 (kernel y) or one of the 3"));
      CHECK_THAT(status, Fails("nothing has ended on any device for 1 s"));
      CHECK_THAT(status, Fails("the session has ended"));
      CHECK_THAT(session->Step(), Fails("the session has ended: device"));
    }  // waits for nothing: the fakes would not let it
    CHECK(runtime::SomethingHangs());
  }
}

TEST_CASE("A GPU that hangs while values are set or read ends the session in time") {
  for (const bool reads : {false, true}) {
    OnFakes fakes(1);
    fakes.AllowLeaks();
    {
      auto session = OpenWithX(TwicePlusOne(3), kVectorLength);
      REQUIRE_THAT(session->Step(), IsOk());
      Fake().hanging_gpu = 0;
      const Clock::time_point start = Clock::now();
      const absl::Status status =
          reads ? session->Get("y").status()
                : session->Set("x",
                               runtime::FloatTensor({kVectorLength}, WholeNumbers(kVectorLength)));
      CHECK(SecondsSince(start) < kPatience + kMostAfterwards);
      CHECK_THAT(status, StatusIs(absl::StatusCode::kDeadlineExceeded,
                                  "a copy to or from the host has not ended for 1 s"));
      CHECK_THAT(session->Step(), Fails("the session has ended: device 0"));
    }  // waits for nothing
    CHECK(Fake().streams > 0);  // left behind, as what hangs cannot be freed
  }
}

TEST_CASE("An illegal address is blamed on where it came, and ends the session") {
  for (const bool trace : {false, true}) {
    for (const int64_t fault : {1, 2, 4}) {
      INFO(trace << " " << fault);
      OnFakes fakes(1);
      fakes.AllowLeaks();
      auto session = OpenWithX(TwicePlusOne(2), kVectorLength, kPatience, trace);
      REQUIRE_THAT(session->Step(), IsOk());
      Fake().fault = Fake().kernels + fault;
      const absl::Status status = session->Step();
      // Each device's two kernels are instructions 0 and 2; the exchanges are copies.
      CHECK_THAT(status, StatusIs(absl::StatusCode::kInternal,
                                  !trace      ? "instruction 0 (kernel y) or one of the "
                                  : fault < 3 ? "instruction 0 (kernel y): GPU"
                                              : "instruction 2 (kernel y): GPU"));
      CHECK_THAT(status, Fails("; the session has ended"));
      CHECK_THAT(session->Step(), Fails("the session has ended: the GPU cannot be used"));
    }
  }
}

TEST_CASE("What reads between instructions does not hide where a GPU broke") {
  OnFakes fakes(1);
  fakes.AllowLeaks();
  runtime::RunOptions options = OnCuda();
  options.find_nan = true;  // reads the arenas after each step, and forgets what has ended
  auto session = runtime::OpenSession(TwicePlusOne(1).Load(), options);
  const std::vector<float> x = WholeNumbers(kVectorLength);
  REQUIRE_THAT(session->Set("x", runtime::FloatTensor({kVectorLength}, x)), IsOk());
  REQUIRE_THAT(session->Step(), IsOk());
  Fake().fault = Fake().kernels + 2;
  CHECK_THAT(session->Step(), StatusIs(absl::StatusCode::kInternal, "instruction "));
  CHECK_THAT(session->Set("x", runtime::FloatTensor({kVectorLength}, x)),
             Fails("the session has ended"));
  CHECK_THAT(session->Get("y"), Fails("the session has ended"));
}

TEST_CASE("A failure on one device does not cost the others their session") {
  runtime::ProgramBuilder builder = TwicePlusOne(3);
  Call("twice_noting", builder.message());
  builder.message().mutable_functions(0)->set_checks_indices(true);
  for (const std::string second : {"cuLaunchKernel", "cudaGraphLaunch"}) {
    OnFakes fakes(1);
    runtime::RunOptions options = OnCuda();
    options.cuda.graphs = second == "cudaGraphLaunch";
    auto session = runtime::OpenSession(builder.Load(), options);
    std::vector<float> x = WholeNumbers(kVectorLength);
    for (float& value : x) value = -std::abs(value) - 1;  // bad indices on every device
    REQUIRE_THAT(session->Set("x", runtime::FloatTensor({kVectorLength}, x)), IsOk());
    for (const std::string& call : {std::string(), second}) {
      Fake().fail = call;
      CHECK_FALSE(session->Step().ok());
      for (float& value : x) value = 1;  // none
      REQUIRE_THAT(session->Set("x", runtime::FloatTensor({kVectorLength}, x)), IsOk());
      CHECK_THAT(session->Step(), IsOk());  // nothing that was noted before is left
    }
  }
}

TEST_CASE("In a long step, what hangs is told to eight instructions") {
  OnFakes fakes(1);
  fakes.AllowLeaks();
  runtime::ProgramBuilder builder = Tripled(12, 12);
  auto session = OpenWithX(builder, 12);
  // Of two exchanges one is copies and one is jobs, one job on each of three devices.
  Fake().fault = Fake().kernels + 10 * 3 + 1;
  CHECK_THAT(session->Step(), StatusIs(absl::StatusCode::kInternal,
                                       "instruction 16 (gather of x for copy) or one of the "));
  int64_t most = 0;
  for (const auto& device : session->fleet().devices) most = std::max(most, device->finished());
  CHECK(most >= 16);
}

TEST_CASE("Contiguous pieces of any size are copied, whatever the largest pitch is") {
  OnFakes fakes(1);
  Fake().most_pitch = 8;
  auto session = OpenWithX(Tripled(12), 12);
  CHECK_THAT(session->Step(), IsOk());
  CHECK(Fake().copies > 0);
}

}  // namespace
}  // namespace yuba::cuda

#endif  // YUBA_WITH_CUDA
