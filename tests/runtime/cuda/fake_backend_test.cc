// The back end on a fake GPU: virtual devices, work in every order that events leave open,
// failures.

#ifdef YUBA_WITH_CUDA
#include <catch2/catch.hpp>

#include "absl/strings/match.h"
#include "runtime/cuda/facts.h"
#include "tests/runtime/cuda/on_fakes.h"
#include "tests/runtime/cuda/programs.h"
#include "tests/support/status_matchers.h"

namespace yuba::cuda {
namespace {

std::vector<float> TurnedBy(const runtime::RunOptions& options, int steps) {
  auto session = runtime::OpenSession(Turns(program::SUM).Load(), options);
  std::vector<float> found;
  for (int step = 0; step < steps; ++step) {
    std::vector<float> x = WholeNumbers(kTurnedElements);
    for (float& value : x) value += static_cast<float>(step);
    REQUIRE_THAT(session->Set("x", runtime::FloatTensor(kTurnedDims, x)), IsOk());
    REQUIRE_THAT(session->Step(), IsOk());
    const std::vector<float> combined = runtime::FloatsOf(*session->Get("combined"));
    found.insert(found.end(), combined.begin(), combined.end());
  }
  return found;
}

TEST_CASE("Events order the work of devices, whatever order the GPU chooses") {
  const std::vector<float> expected = TurnedBy(runtime::RunOptions(), 2);
  for (uint64_t seed = 1; seed <= 60; ++seed) {
    OnFakes fakes(1);
    Fake().seed = seed;
    INFO("seed " << seed);
    CHECK(TurnedBy(OnCuda(seed % 2 == 0, seed), 2) == expected);
    CHECK(Fake().copies > 0);
    CHECK(Fake().kernels > 0);
  }
}

TEST_CASE("What others read is not made anew before they have read it") {
  for (uint64_t seed = 1; seed <= 30; ++seed) {
    OnFakes fakes(1);
    Fake().seed = seed;
    auto session = runtime::OpenSession(TwicePlusOne(3).Load(), OnCuda());
    const std::vector<float> x = WholeNumbers(kVectorLength);
    REQUIRE_THAT(session->Set("x", runtime::FloatTensor({kVectorLength}, x)), IsOk());
    REQUIRE_THAT(session->Step(), IsOk());
    std::vector<float> y;
    for (float value : x) y.push_back(2 * value + 1);
    CHECK(runtime::FloatsOf(*session->Get("y")) == y);
  }
}

TEST_CASE("An index outside of its extent ends the step, and the next one begins anew") {
  OnFakes fakes(1);
  runtime::ProgramBuilder builder = TwicePlusOne(3);
  Call("twice_noting", builder.message());
  builder.message().mutable_functions(0)->set_checks_indices(true);
  auto session = runtime::OpenSession(builder.Load(), OnCuda());
  std::vector<float> x(kVectorLength, 1);
  REQUIRE_THAT(session->Set("x", runtime::FloatTensor({kVectorLength}, x)), IsOk());
  REQUIRE_THAT(session->Step(), IsOk());
  x[kVectorLength - 1] = -5;
  REQUIRE_THAT(session->Set("x", runtime::FloatTensor({kVectorLength}, x)), IsOk());
  const absl::Status status = session->Step();
  INFO(status);
  CHECK(absl::IsInvalidArgument(status));
  CHECK(absl::StrContains(status.message(), "device 2, instruction 0"));
  CHECK(absl::StrContains(status.message(), absl::StrCat("x holds -5 at [", kVectorLength - 1,
                                                         "], which is no index into 1 element")));
  x[kVectorLength - 1] = 1;
  REQUIRE_THAT(session->Set("x", runtime::FloatTensor({kVectorLength}, x)), IsOk());
  CHECK_THAT(session->Step(), IsOk());
}

TEST_CASE("Without the waits for events the fakes find that the order is wrong") {
  const std::vector<float> expected = TurnedBy(runtime::RunOptions(), 2);
  int wrong = 0;
  for (uint64_t seed = 1; seed <= 30; ++seed) {
    OnFakes fakes(1);
    Fake().seed = seed;
    Fake().forget_waits = true;
    wrong += TurnedBy(OnCuda(), 2) != expected;
  }
  CHECK(wrong > 0);
}

std::string OpeningError(const runtime::ProgramBuilder& builder, absl::StatusCode code) {
  const auto session = runtime::Session::Open(builder.Load(), OnCuda());
  REQUIRE_THAT(session, StatusIs(code));
  return std::string(session.status().message());
}

TEST_CASE("What is missing is said when the session is opened") {
  runtime::ProgramBuilder builder = TwicePlusOne(2);
  SECTION("a GPU") {
    OnFakes fakes(0);
    CHECK_THAT(OpeningError(builder, absl::StatusCode::kUnavailable),
               Catch::StartsWith("no GPU: no driver"));
  }
  SECTION("a driver that is new enough") {
    OnFakes fakes(1);
    Fake().driver = 12020;
    CHECK_THAT(OpeningError(builder, absl::StatusCode::kUnavailable),
               Catch::Contains("the driver is for CUDA 12.2, and Yuba needs one for CUDA 13.0") &&
                   Catch::Contains("580"));
  }
  SECTION("a GPU that is new enough") {
    OnFakes fakes(1);
    builder.message().set_processor("sm_90");
    CHECK_THAT(OpeningError(builder, absl::StatusCode::kUnavailable),
               Catch::Contains("compiled for sm_90") && Catch::Contains("is sm_80"));
  }
  SECTION("memory") {
    OnFakes fakes(1);
    Fake().memory = 3000;  // less than the arenas
    CHECK_THAT(OpeningError(builder, absl::StatusCode::kResourceExhausted),
               Catch::Contains("GPU 0 has 0.0 MB free of 0.0, and the program needs 0.0: 2 of its "
                               "devices"));
    CHECK(Fake().most_allocated == 0);
  }
  SECTION("memory that another program takes meanwhile") {
    OnFakes fakes(1);
    Fake().fail = "cudaMalloc";
    CHECK_THAT(OpeningError(builder, absl::StatusCode::kResourceExhausted),
               Catch::Contains("its arena") && Catch::Contains("out of memory"));
  }
  SECTION("a kernel") {
    OnFakes fakes(1);
    Call("missing_one", builder.message());
    CHECK_THAT(OpeningError(builder, absl::StatusCode::kInvalidArgument),
               Catch::Contains("no kernel missing_one") && Catch::Contains("--target cuda"));
  }
  SECTION("code for GPUs at all") {
    OnFakes fakes(1);
    builder.message().clear_code();
    CHECK_THAT(OpeningError(builder, absl::StatusCode::kInvalidArgument),
               Catch::Contains("--target cuda"));
  }
  SECTION("PTX that compiles") {
    OnFakes fakes(1);
    Fake().fail = "cuModuleLoadDataEx";
    CHECK_THAT(OpeningError(builder, absl::StatusCode::kInternal),
               Catch::Contains("compiling the program's kernels"));
  }
}

TEST_CASE("Code is for the oldest of a machine's GPUs") {
  OnFakes fakes(3);
  Fake().sm = 100;
  CHECK(OldestOf(*FindGpus()) == 100);
  Fake().other_sm = 86;
  CHECK(OldestOf(*FindGpus()) == 86);
}

}  // namespace
}  // namespace yuba::cuda

#endif  // YUBA_WITH_CUDA
