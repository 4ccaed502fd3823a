// Steps as CUDA graphs on fake GPUs: from the second one on they are recorded and replayed, with
// the same results, counts and errors; what cannot be recorded is started one by one, and says so.

#ifdef YUBA_WITH_CUDA
#include <atomic>
#include <iostream>
#include <sstream>

#include "absl/strings/match.h"
#include "runtime/arena_watch.h"
#include "tests/runtime/cuda/on_fakes.h"
#include "tests/runtime/cuda/programs.h"
#include "tests/support/status_matchers.h"

namespace yuba::cuda {
namespace {

constexpr double kPatience = 1;  // seconds; no step stands still for so long on a busy machine

// What is written to stderr while it lives.
class Said {
 public:
  Said() : before_(std::cerr.rdbuf(text_.rdbuf())) {}
  ~Said() { std::cerr.rdbuf(before_); }
  std::string text() const { return text_.str(); }

 private:
  std::ostringstream text_;
  std::streambuf* const before_;
};

// After each step: "combined" of steps whose x differ, and bytes that were moved so far.
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
    found.push_back(static_cast<float>(session->statistics().bytes));
  }
  return found;
}

TEST_CASE("Replayed steps have the results and bytes of others, whatever order the GPU chooses") {
  const std::vector<float> expected = TurnedBy(runtime::RunOptions(), 4);
  for (uint64_t seed = 1; seed <= 18; ++seed) {
    for (const bool graphs : {true, false}) {
      if (!graphs && seed > 3) continue;
      OnFakes fakes(1);
      Fake().seed = seed;
      INFO("seed " << seed << ", graphs " << graphs);
      runtime::RunOptions options = OnCuda();
      options.cuda.graphs = graphs;
      CHECK(TurnedBy(options, 4) == expected);
      CHECK(Fake().replays == (graphs ? 3 : 0));
    }
  }
}

TEST_CASE("What a replay does on a device is over when the device alone has been waited for") {
  for (uint64_t seed = 1; seed <= 10; ++seed) {
    OnFakes fakes(1);
    Fake().seed = seed;
    auto session = runtime::OpenSession(TwicePlusOne(3).Load(), OnCuda());
    const std::vector<float> x = WholeNumbers(kVectorLength);
    REQUIRE_THAT(session->Set("x", runtime::FloatTensor({kVectorLength}, x)), IsOk());
    const runtime::LoadedProgram& program = session->program();
    const int y = program.instructions()[0].kernel().results(0).buffer();
    const int64_t offset = runtime::PlannedLayout(program).offsets[y];
    const Interval part = program.BufferBox(y, 2)[0];
    std::vector<float> found(part.size());
    const int64_t bytes = part.size() * static_cast<int64_t>(sizeof(float));
    runtime::Fleet& fleet = session->fleet();
    REQUIRE_THAT(fleet.recorder->Begin(), IsOk());
    for (const auto& device : fleet.devices) REQUIRE_THAT(device->Run(0), IsOk());
    auto step = fleet.recorder->End();
    REQUIRE_THAT(step, IsOk());
    for (int time = 0; time < 2; ++time) {
      REQUIRE_THAT(fleet.devices[2]->Fill(offset, 0, bytes), IsOk());
      REQUIRE_THAT((*step)->Start(), IsOk());
      REQUIRE_THAT(fleet.devices[2]->Read(offset, reinterpret_cast<char*>(found.data()), bytes),
                   IsOk());
      for (int64_t i = 0; i < part.size(); ++i) CHECK(found[i] == 2 * x[part.begin + i] + 1);
      const std::atomic<bool> give_up{false};
      for (const auto& device : fleet.devices) REQUIRE_THAT(device->Synchronize(give_up), IsOk());
    }
  }
}

TEST_CASE("Each entry is a graph of its own") {
  OnFakes fakes(1);
  runtime::ProgramBuilder builder = Tripled(12);  // x = 3 x, four times, by two exchanges each
  for (const auto& [name, begin] : {std::pair<const char*, int>{"once", 0}, {"three times", 2}}) {
    program::Entry* entry = builder.message().add_entries();
    entry->set_name(name);
    entry->set_begin(begin);
  }
  auto session = runtime::OpenSession(builder.Load(), OnCuda());
  REQUIRE_THAT(session->Set("x", runtime::FloatTensor({12}, WholeNumbers(12))), IsOk());
  std::vector<float> x = WholeNumbers(12);
  for (int round = 0; round < 3; ++round) {
    for (const auto& [name, factor] :
         {std::pair<const char*, float>{"once", 3}, {"three times", 27}}) {
      REQUIRE_THAT(session->Step(name), IsOk());
      for (float& value : x) value *= factor;
      CHECK(runtime::FloatsOf(*session->Get("tripled")) == x);
    }
  }
  CHECK(Fake().replays == 2 * 2);
}

TEST_CASE("A GPU that hangs in a replayed step is named with its instruction") {
  OnFakes fakes(1);
  fakes.AllowLeaks();
  runtime::RunOptions options = OnCuda();
  options.timeout_seconds = kPatience;
  // 12 exchanges of which each device waits for all others.
  auto session = runtime::OpenSession(Tripled(12, 12).Load(), options);
  REQUIRE_THAT(session->Set("x", runtime::FloatTensor({12}, WholeNumbers(12))), IsOk());
  for (int step = 0; step < 3; ++step) REQUIRE_THAT(session->Step(), IsOk());
  CHECK(Fake().replays == 2);
  int64_t before = session->fleet().devices[1]->finished();
  CHECK(before == 3 * 24);
  Fake().hanging_gpu = 0;
  const absl::Status status = session->Step();
  CHECK_THAT(status, StatusIs(absl::StatusCode::kDeadlineExceeded,
                              "instruction 0 (gather of x for copy) or one of the 7 behind it"));
  CHECK_THAT(status, Fails("; the session has ended"));
  CHECK(session->fleet().devices[1]->finished() == before);
}

TEST_CASE("In a replayed step marks count to eight instructions") {
  OnFakes fakes(1);
  fakes.AllowLeaks();
  auto session = runtime::OpenSession(Tripled(12, 12).Load(), OnCuda());
  REQUIRE_THAT(session->Set("x", runtime::FloatTensor({12}, WholeNumbers(12))), IsOk());
  REQUIRE_THAT(session->Step(), IsOk());
  // One of two exchanges is jobs, of each of three devices; every eighth instruction is marked.
  Fake().fault = Fake().kernels + 8 * 3 + 2 * 3 + 1;
  CHECK_THAT(session->Step(), StatusIs(absl::StatusCode::kInternal,
                                       "instruction 16 (gather of x for copy) or one of the "));
  CHECK(Fake().replays == 1);
  int64_t most = 0;
  for (const auto& device : session->fleet().devices) most = std::max(most, device->finished());
  CHECK(most >= 24 + 16);
}

TEST_CASE("Bad indices in replayed steps are found in each of them") {
  for (uint64_t seed = 1; seed <= 8; ++seed) {
    OnFakes fakes(1);
    Fake().seed = seed;
    runtime::ProgramBuilder builder = TwicePlusOne(3);
    Call("twice_noting", builder.message());
    builder.message().mutable_functions(0)->set_checks_indices(true);
    auto session = runtime::OpenSession(builder.Load(), OnCuda());
    std::vector<float> x(kVectorLength, 1);
    for (int step = 0; step < 8; ++step) {
      INFO("seed " << seed << ", step " << step);
      const bool bad = step > 1 && step % 4 != 0;  // the second after the first without a pause
      x[kVectorLength - 1] = bad ? static_cast<float>(-step) : 1;
      if (step != 3)
        REQUIRE_THAT(session->Set("x", runtime::FloatTensor({kVectorLength}, x)), IsOk());
      const absl::Status status = session->Step();
      CHECK(status.ok() == !bad);
      if (bad) CHECK_THAT(status, Fails("device 2, instruction 0"));
    }
    CHECK(Fake().replays == 7);
  }
}

TEST_CASE("What cannot be recorded is started one by one, with a line and the same results") {
  const std::vector<float> expected = TurnedBy(runtime::RunOptions(), 4);
  for (const char* call :
       {"cudaStreamBeginCapture", "cudaStreamEndCapture", "cudaGraphInstantiate"}) {
    INFO(call);
    OnFakes fakes(1);
    Fake().fail = call;
    const Said said;
    CHECK(TurnedBy(OnCuda(), 4) == expected);
    CHECK(Fake().replays == 0);
    CHECK(absl::StrContains(said.text(),
                            absl::StrCat("note: instructions are started one by one, and "
                                         "not as a CUDA graph: recording a step failed")));
    CHECK(absl::StrContains(said.text(), call));
  }
  // A call that is refused in the middle of a step.
  {
    OnFakes fakes(1);
    auto session = runtime::OpenSession(Turns(program::SUM).Load(), OnCuda());
    const Said said;
    for (int step = 0; step < 4; ++step) {
      std::vector<float> x = WholeNumbers(kTurnedElements);
      REQUIRE_THAT(session->Set("x", runtime::FloatTensor(kTurnedDims, x)), IsOk());
      if (step == 1) Fake().fail = "cuLaunchKernel";
      REQUIRE_THAT(session->Step(), IsOk());
      const std::vector<float> combined = runtime::FloatsOf(*session->Get("combined"));
      CHECK(std::equal(combined.begin(), combined.end(), expected.begin()));
    }
    CHECK(absl::StrContains(said.text(), "cuLaunchKernel"));
    CHECK(Fake().replays == 0);
    CHECK(static_cast<float>(session->statistics().bytes) == expected.back());
  }
  // What looks between instructions.
  for (const bool trace : {true, false}) {
    OnFakes fakes(1);
    runtime::RunOptions options = OnCuda();
    options.trace = trace;
    options.find_nan = !trace;
    const Said said;
    CHECK(TurnedBy(options, 4) == expected);
    CHECK(Fake().replays == 0);
    CHECK(absl::StrContains(
        said.text(), trace ? "a trace waits for each of them" : "a guard looks between them"));
  }
}

TEST_CASE("Library calls count in replayed steps, and do not where they are recorded") {
  OnFakes fakes(1);
  auto session = runtime::OpenSession(HalvedProduct({}).Load(), OnCuda());
  for (const auto& [name, letters] :
       {std::pair<const char*, const char*>{"left", "bmk"}, {"right", "bkn"}}) {
    int64_t elements = 1;
    for (const int64_t extent : ProductDims(letters)) elements *= extent;
    REQUIRE_THAT(
        session->Set(name, runtime::FloatTensor(ProductDims(letters), WholeNumbers(elements))),
        IsOk());
  }
  std::vector<float> first;
  for (int step = 1; step <= 4; ++step) {
    REQUIRE_THAT(session->Step(), IsOk());
    CHECK(session->statistics().library_calls == 2 * step);
    const std::vector<float> result = runtime::FloatsOf(*session->Get("result"));
    if (step == 1) first = result;
    CHECK(result == first);
  }
  CHECK(Fake().replays == 3);
}

}  // namespace
}  // namespace yuba::cuda

#endif  // YUBA_WITH_CUDA
