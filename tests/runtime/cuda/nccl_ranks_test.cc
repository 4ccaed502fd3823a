// Ranks on GPUs that exchange through NCCL, as threads on fake GPUs: the bits and counts of one
// session on the host, step by step and as graphs, without a wait of the host; and what goes wrong.

#ifdef YUBA_WITH_CUDA
#include <chrono>
#include <cstdlib>
#include <iostream>
#include <sstream>
#include <thread>

#include "opsemantics/base/clock.h"
#include "opsemantics/base/status.h"
#include "runtime/cuda/libraries.h"
#include "tests/runtime/cuda/on_fakes.h"
#include "tests/runtime/cuda/programs.h"
#include "tests/runtime/exchange_programs.h"
#include "tests/runtime/ranks/rank_results.h"
#include "tests/support/status_matchers.h"

namespace yuba::cuda {
namespace {

using runtime::Job;
using runtime::LoadedProgram;
using runtime::RankFacts;
using runtime::RunOptions;
using runtime::StepsResult;

using Program = std::shared_ptr<const LoadedProgram>;

constexpr double kPatience = 100;  // seconds; what ends a step in these tests is something else

std::vector<RankFacts> OnOneHost(int size) {
  std::vector<RankFacts> facts = runtime::FactsOfRanks(size);
  for (RankFacts& rank : facts) rank.host = "node";
  return facts;
}

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

RunOptions WithSums(Sums sums) {
  RunOptions options = OnCuda();
  options.cuda.sums = sums;
  return options;
}

void RequireEqual(const Program& program, const RunOptions& options, int steps) {
  RunOptions on_host;
  on_host.poison = options.poison;
  const std::vector<StepsResult> ranks =
      runtime::RunRanks(program, OnOneHost(program->devices()), options, steps);
  for (int device = 0; device < program->devices(); ++device) {
    INFO("device " << device);
    const StepsResult alone = runtime::RunSteps(program, on_host, device, steps);
    REQUIRE_THAT(alone.status, IsOk());
    REQUIRE_THAT(ranks[device].status, IsOk());
    REQUIRE(ranks[device] == alone);
  }
  CHECK(Fake().members == 0);
}

// Gathered and summed up again three times on `devices` devices, as training does it.
runtime::ProgramBuilder GatheredAndSummed(int devices) {
  const std::vector<int64_t> dims = {7, 70};
  runtime::ProgramBuilder builder({devices});
  std::vector<int64_t> partials;
  for (int d = 0; d < devices; ++d) partials.push_back(d);
  const auto rows = runtime::CutAlong(dims, 0, devices),
             columns = runtime::CutAlong(dims, 1, devices);
  const int x = builder.AddBuffer("x", program::F32, dims, rows);
  const int turned = builder.AddBuffer("turned", program::F32, dims, columns);
  const int whole =
      builder.AddBuffer("whole", program::F32, dims, std::vector<Box>(devices, WholeBox(dims)));
  builder.AddExchange(x, turned);
  builder.AddExchange(turned, whole);
  builder.AddReduction(whole, x, program::SUM, devices, partials);
  builder.Repeat(3);
  return builder;
}

// The program, where buffer 0 has a value from the beginning.
Program LoadFilled(runtime::ProgramBuilder builder) {
  builder.message().clear_inputs();
  builder.message().mutable_buffers(0)->set_initialized(true);
  return builder.Load();
}

TEST_CASE("Ranks on GPUs gather and combine any boxes to the host's bits") {
  std::mt19937 random(3);
  for (int round = 0; round < 24; ++round) {
    const Program program = round % 2 == 0 ? runtime::RandomGather(random, 2).program
                                           : runtime::RandomSum(random, 2).program;
    OnFakes fakes(program->devices());
    Fake().seed = static_cast<uint64_t>(round);
    INFO("round " << round);
    RunOptions options = WithSums(Sums::kOrdered);
    options.poison = true;
    RequireEqual(program, options, 2);
  }
}

TEST_CASE("Chains of exchanges have the host's bits, also as graphs") {
  for (const int devices : {2, 3, 4}) {
    const Program program = LoadFilled(GatheredAndSummed(devices));
    for (const bool graphs : {true, false}) {
      for (uint64_t seed = 1; seed <= 4; ++seed) {
        OnFakes fakes(devices);
        Fake().seed = seed;
        Fake().nccl_polls = seed % 2 == 0 ? 1 : 20;
        INFO(devices << " devices, graphs " << graphs << ", seed " << seed);
        RunOptions options = OnCuda();
        options.cuda.graphs = graphs;
        RequireEqual(program, options, 4);
        CHECK(Fake().replays == (graphs ? 3 * devices : 0));
        // Nine exchanges, in the first step and once more where they are recorded.
        CHECK(Fake().groups == 9 * devices * (graphs ? 2 : 4));
      }
    }
  }
}

TEST_CASE("Exchanges that are copies in rows, and sums to one owner, have the host's bits") {
  for (const auto& program : {LoadFilled(Turns(program::SUM)), LoadFilled(Turns(program::MAX)),
                              LoadFilled(Tripled(12)), LoadFilled(Tripled(5))}) {
    for (uint64_t seed = 1; seed <= 3; ++seed) {
      OnFakes fakes(3);
      Fake().seed = seed;
      RequireEqual(program, OnCuda(), 3);
    }
  }
}

TEST_CASE("The host waits for nothing between instructions") {
  OnFakes fakes(3);
  const Program program = LoadFilled(GatheredAndSummed(3));
  std::vector<int64_t> waits(3, -1);
  std::vector<absl::Status> statuses(3);
  runtime::LocalNetwork network(3);
  runtime::RunJob(network, OnOneHost(3), runtime::Long(), [&](Job& job) {
    RunOptions options = OnCuda();
    options.job = &job;
    auto session = runtime::Session::Open(program, options);
    absl::Status& status = statuses[job.rank()];
    status = session.status();
    if (!status.ok()) return 3;
    runtime::Fleet& fleet = (*session)->fleet();
    status.Update(job.AnyOf(false).status());  // all have opened it
    const int64_t before = Fake().waits;
    status.Update(job.AnyOf(false).status());
    for (size_t i = 0; i < fleet.plans.size() && status.ok(); ++i) {
      const auto progress =
          fleet.communicator->Advance(job.rank(), static_cast<int>(i), fleet.plans[i]);
      status.Update(progress.status());
      if (progress.ok() && *progress != runtime::Progress::kDone) status = InternalError("blocked");
    }
    status.Update(job.AnyOf(false).status());
    waits[job.rank()] = Fake().waits - before;
    status.Update(job.AnyOf(false).status());
    const std::atomic<bool> give_up{false};
    status.Update(fleet.devices[job.rank()]->Synchronize(give_up));
    return status.ok() ? 0 : 3;
  });
  for (const absl::Status& status : statuses) CHECK_THAT(status, IsOk());
  CHECK(waits == std::vector<int64_t>(3, 0));
}

// What steps give on ranks of a job of which one does something else after the first `before`.
std::vector<absl::Status> StepsWith(const Program& program, int before, double patience,
                                    const std::function<void(Job&)>& between,
                                    const runtime::JobOptions& limits = runtime::Long()) {
  std::vector<absl::Status> statuses(program->devices());
  runtime::LocalNetwork network(program->devices());
  runtime::RunJob(network, OnOneHost(program->devices()), limits, [&](Job& job) {
    RunOptions options = OnCuda();
    options.job = &job;
    options.timeout_seconds = patience;
    auto session = runtime::Session::Open(program, options);
    absl::Status& status = statuses[job.rank()];
    status = session.status();
    for (int step = 0; step < before && status.ok(); ++step) status = (*session)->Step();
    if (status.ok()) {
      status = job.AnyOf(false).status();
      between(job);
    }
    for (int step = 0; step < 2 && status.ok(); ++step) status = (*session)->Step();
    if (!status.ok()) job.Fail(status);
    return status.ok() ? 0 : 3;
  });
  return statuses;
}

TEST_CASE("A rank that fails ends the step on all, for its reason") {
  const Program program = LoadFilled(GatheredAndSummed(4));
  OnFakes fakes(4);
  const Clock::time_point start = Clock::now();
  const std::vector<absl::Status> statuses = StepsWith(program, 1, kPatience, [](Job& job) {
    if (job.rank() == 2) job.Fail(InternalError("the fan is off"));
  });
  CHECK(SecondsSince(start) < kPatience);
  for (const absl::Status& status : statuses)
    CHECK_THAT(status, StatusIs(absl::StatusCode::kInternal, "the fan is off"));
  CHECK(Fake().members == 0);
}

TEST_CASE("A GPU that waits for a rank that is busy waits longer than for its own work") {
  const Program program = LoadFilled(GatheredAndSummed(3));
  OnFakes fakes(3);
  const std::vector<absl::Status> statuses = StepsWith(program, 2, 0.3, [](Job& job) {
    if (job.rank() != 1) return;
    job.SetBusy(true);
    std::this_thread::sleep_for(std::chrono::milliseconds(1500));
    job.SetBusy(false);
  });
  for (const absl::Status& status : statuses) CHECK_THAT(status, IsOk());
}

TEST_CASE("A rank that does not come to a step is named by those whose GPUs wait for it") {
  const Program program = LoadFilled(GatheredAndSummed(3));
  OnFakes fakes(3);
  const auto stop = [](Job& job) {
    while (job.rank() == 1 && job.ended().ok())
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
  };
  for (const absl::Status& status : StepsWith(program, 2, kPatience, stop, {1, 60, 0.01})) {
    CHECK_THAT(status, StatusIs(absl::StatusCode::kInternal,
                                "rank 1 (host node, process 101) has not got on for 1 s"));
    CHECK_THAT(status, Fails("waits for it in step 2, instruction 0"));
  }
}

TEST_CASE("A call that fails on one rank ends the step on all, and names it") {
  const Program program = LoadFilled(GatheredAndSummed(3));
  OnFakes fakes(3);
  fakes.AllowLeaks();
  const std::vector<absl::Status> statuses = StepsWith(program, 1, kPatience, [](Job& job) {
    if (job.rank() == 1) Fake().fault = Fake().kernels + 1;
    job.AnyOf(false).IgnoreError();
  });
  for (const absl::Status& status : statuses)
    CHECK_THAT(status, StatusIs(absl::StatusCode::kInternal, "device "));
}

TEST_CASE("What NCCL reports on a rank ends the step on all") {
  const Program program = LoadFilled(GatheredAndSummed(2));
  OnFakes fakes(2);
  fakes.AllowLeaks();
  const std::vector<absl::Status> statuses = StepsWith(program, 1, kPatience, [](Job& job) {
    if (job.rank() == 1) Fake().nccl = FakeCuda::kFailsLater;
    job.AnyOf(false).IgnoreError();
  });
  for (const absl::Status& status : statuses) CHECK_THAT(status, Fails("NCCL: "));
}

TEST_CASE("A call of NCCL that does not end is aborted") {
  const Program program = LoadFilled(GatheredAndSummed(2));
  OnFakes fakes(2);
  fakes.AllowLeaks();
  const std::vector<absl::Status> statuses = StepsWith(program, 1, 1, [](Job& job) {
    if (job.rank() == 1) Fake().nccl = FakeCuda::kBlocksUntilAbort;
    job.AnyOf(false).IgnoreError();
  });
  for (const absl::Status& status : statuses)
    CHECK_THAT(status,
               StatusIs(absl::StatusCode::kDeadlineExceeded, "has ended on any device for"));
  CHECK(Fake().aborts == 2);
}

TEST_CASE("Where one rank cannot record a step, all start its instructions one by one") {
  const Program program = LoadFilled(GatheredAndSummed(3));
  OnFakes fakes(3);
  Fake().fail = "cudaGraphInstantiate";
  const Said said;
  RequireEqual(program, OnCuda(), 4);
  CHECK(Fake().replays == 0);
  CHECK_THAT(said.text(), Catch::Contains("recording a step failed on another rank"));
}

std::vector<absl::Status> Opened(int ranks, const RunOptions& options) {
  std::vector<absl::Status> statuses;
  for (const StepsResult& result :
       runtime::RunRanks(LoadFilled(GatheredAndSummed(ranks)), OnOneHost(ranks), options, 1)) {
    statuses.push_back(result.status);
  }
  return statuses;
}

TEST_CASE("Two ranks on one GPU are refused by name, before NCCL is asked") {
  OnFakes fakes(2);
  Fake().one_uuid = true;
  for (const absl::Status& status : Opened(2, OnCuda())) {
    CHECK_THAT(status, StatusIs(absl::StatusCode::kInvalidArgument,
                                "rank 0 (host node, process 100) and rank 1 (host node, process "
                                "101) have the same GPU"));
    CHECK_THAT(status, Fails("--share-gpu"));
  }
  CHECK(Fake().groups == 0);
}

TEST_CASE("More ranks than GPUs are refused, unless they may share") {
  OnFakes fakes(2);
  for (const absl::Status& status : Opened(3, OnCuda())) {
    CHECK_THAT(status, StatusIs(absl::StatusCode::kInvalidArgument,
                                "rank 2 (host node, process 102) has no GPU: it sees 2"));
  }
  RunOptions options = OnCuda();
  options.cuda.share_gpu = true;
  RequireEqual(LoadFilled(GatheredAndSummed(3)), options, 3);
  unsetenv("NCCL_HOSTID");
}

}  // namespace
}  // namespace yuba::cuda

#endif  // YUBA_WITH_CUDA
