// Exchanges of ranks that calls of NCCL's collectives make, on fake GPUs: the host's bits where the
// order of sums is ours or does not show, and else nearly its numbers; and which calls are made.

#ifdef YUBA_WITH_CUDA
#include <cmath>
#include <cstdlib>
#include <cstring>

#include "opsemantics/base/half.h"
#include "runtime/cuda/nccl_sums.h"
#include "tests/runtime/cuda/on_fakes.h"
#include "tests/runtime/exchange_programs.h"
#include "tests/runtime/ranks/rank_results.h"
#include "tests/support/status_matchers.h"

namespace yuba::cuda {
namespace {

using runtime::Collected;
using runtime::CollectiveForm;
using runtime::RankFacts;
using runtime::RunOptions;
using runtime::StepsResult;

using Program = std::shared_ptr<const runtime::LoadedProgram>;
using Results = std::vector<StepsResult>;

constexpr Sums kAllSums[] = {Sums::kOrdered, Sums::kRepeatable, Sums::kFast};

// Sets NCCL's environment back, which a session of ranks writes.
void ForgetEnvironment() {
  unsetenv("NCCL_ALGO");
  unsetenv("NCCL_NVLS_ENABLE");
}

Results OnRanks(const Program& program, RunOptions options, Sums sums, uint64_t seed,
                int steps = 3) {
  ForgetEnvironment();
  Fake().seed = seed;
  options.backend = "cuda";
  options.cuda.sums = sums;
  std::vector<RankFacts> facts = runtime::FactsOfRanks(program->devices());
  for (RankFacts& rank : facts) rank.host = "node";
  Results results = runtime::RunRanks(program, facts, options, steps);
  ForgetEnvironment();
  for (const StepsResult& result : results) REQUIRE_THAT(result.status, IsOk());
  CHECK(Fake().members == 0);
  return results;
}

Results OnHost(const Program& program, int steps = 3) {
  Results results;
  for (int device = 0; device < program->devices(); ++device) {
    results.push_back(runtime::RunSteps(program, RunOptions(), device, steps));
    REQUIRE_THAT(results.back().status, IsOk());
  }
  return results;
}

float FloatAt(const std::string& bytes, size_t i) {
  float value = 0;
  std::memcpy(&value, bytes.data() + i * sizeof value, sizeof value);
  return value;
}

// Of shards of f32: how far two are apart, as a share of the largest number that was added up.
double Apart(const std::string& a, const std::string& b, int partials) {
  REQUIRE(a.size() == b.size());
  double largest = 0;
  for (size_t i = 0; i < a.size() / sizeof(float); ++i)
    largest = std::max<double>(largest, std::abs(FloatAt(a, i) - FloatAt(b, i)));
  return largest / (partials * 999.0 * (1 << 20));
}

constexpr CollectiveForm kMeshes[] = {{1, 2}, {1, 3}, {2, 2}, {1, 4}, {3, 2},
                                      {2, 4}, {1, 8}, {4, 4}, {1, 16}};

TEST_CASE("Gathers by NCCL bring the host's bits, whatever the parts are") {
  runtime::Random random(1);
  for (const CollectiveForm& mesh : kMeshes) {
    for (const bool even : {false, true}) {
      CollectiveForm form = mesh;
      form.even = even;
      INFO(form.outer << " times " << form.inner << (even ? ", even" : ""));
      const Program program = RandomCollective(random, Collected::kGather, form);
      OnFakes fakes(program->devices());
      RunOptions options;
      options.poison = even;
      CHECK(OnRanks(program, options, Sums::kFast, 1) == OnHost(program));
      if (even) CHECK(Fake().all_gathers == 3 * program->devices());
    }
  }
}

TEST_CASE("Sums have the host's bits where we add up, and else nearly its numbers") {
  runtime::Random random(2);
  for (const CollectiveForm& form : kMeshes) {
    for (const Collected collected :
         {Collected::kScatter, Collected::kReduce, Collected::kReduceScalar}) {
      const Program program = RandomCollective(random, collected, form);
      const Results expected = OnHost(program);
      for (const Sums sums : kAllSums) {
        INFO(form.outer << " times " << form.inner << ", " << static_cast<int>(collected) << ", "
                        << Name(sums));
        OnFakes fakes(program->devices());
        const Results found = OnRanks(program, {}, sums, 5);
        if (sums == Sums::kOrdered) {
          CHECK(found == expected);
          CHECK(Fake().reduce_scatters + Fake().all_reduces == 0);
        }
        for (size_t d = 0; d < found.size(); ++d) {
          CHECK(Apart(found[d].shards[1], expected[d].shards[1], program->devices()) < 1e-6);
          CHECK(found[d].bytes == expected[d].bytes);
          CHECK(found[d].bytes_in == expected[d].bytes_in);
          CHECK(found[d].sums == Name(sums));
        }
        if (sums == Sums::kOrdered) continue;
        // Two steps of which the second is recorded, and then started again: two times two calls.
        const int64_t calls = 2 * program->devices();
        if (collected != Collected::kScatter) {
          CHECK(Fake().all_reduces == calls);
          CHECK(Fake().reduce_scatters + Fake().all_gathers == 0);
          CHECK(found[0].groups == 3);
        }
      }
    }
  }
}

TEST_CASE("What is exact in any order has the host's bits, whoever adds it up") {
  // NCCL does not say what becomes of NaN.
  for (const Reducer reducer : {Reducer::kMax, Reducer::kMin}) {
    CHECK_FALSE(NcclReductionOf({reducer, ElementType::kF32, ElementType::kF32}).has_value());
    CHECK(NcclReductionOf({reducer, ElementType::kI32, ElementType::kI32})->exact);
  }
  struct Exact {
    program::Reducer reducer;
    program::ElementType type;
    bool hash;
  };
  runtime::Random random(3);
  int64_t calls = 0;
  for (const Exact& exact : {Exact{program::SUM, program::F32, true},
                             {program::PROD, program::F32, true},
                             {program::MAX, program::F32, true},
                             {program::SUM, program::I32, false},
                             {program::PROD, program::I64, false},
                             {program::MAX, program::I32, false},
                             {program::MIN, program::I8, false},
                             {program::MIN, program::F32, false},
                             {program::MAX, program::F32, false},
                             {program::PICK, program::F32, false},
                             {program::ANY, program::BOOL, false}}) {
    for (const CollectiveForm& mesh : {CollectiveForm{1, 3}, CollectiveForm{2, 4}}) {
      for (const Collected collected : {Collected::kScatter, Collected::kReduce}) {
        CollectiveForm form = mesh;
        form.hash = exact.hash;
        form.reducer = exact.reducer;
        form.type = form.result = exact.type;
        form.even = collected == Collected::kScatter;
        const Program program = RandomCollective(random, collected, form);
        const Results expected = OnHost(program);
        for (const Sums sums : kAllSums) {
          INFO(program::Reducer_Name(exact.reducer)
               << " of " << program::ElementType_Name(exact.type) << ", " << Name(sums));
          OnFakes fakes(program->devices());
          CHECK(OnRanks(program, {}, sums, 7) == expected);
          calls += Fake().reduce_scatters + Fake().all_reduces;
        }
      }
    }
  }
  CHECK(calls > 0);
}

TEST_CASE("Partials of a wider type are added up in it, and then converted") {
  runtime::Random random(4);
  for (const bool even : {true, false}) {
    CollectiveForm form = {1, 4};
    form.even = even;
    form.result = program::BF16;
    const Program program = RandomCollective(random, Collected::kReduce, form);
    const Results expected = OnHost(program);
    OnFakes fakes(4);
    const Results found = OnRanks(program, {}, Sums::kRepeatable, 3);
    CHECK(Fake().all_reduces == 0);
    if (even) CHECK(Fake().reduce_scatters == 2 * 4);
    const auto element = [](const StepsResult& result, size_t i) {
      uint16_t bits = 0;
      std::memcpy(&bits, result.shards[1].data() + 2 * i, 2);
      return FromBF16(bits);
    };
    for (size_t i = 0; i < expected[0].shards[1].size() / 2; ++i) {
      const float a = element(found[0], i), b = element(expected[0], i);
      CHECK(std::abs(a - b) <= 1e-2 * std::abs(b) + 4096);
    }
    CHECK(OnRanks(program, {}, Sums::kOrdered, 3) == expected);
  }
}

TEST_CASE("Repeatable sums are the same in each run, and fast ones are what NCCL makes them") {
  runtime::Random random(5);
  CollectiveForm form = {1, 8};
  form.even = true;
  for (const Collected collected : {Collected::kScatter, Collected::kReduce}) {
    const Program program = RandomCollective(random, collected, form);
    OnFakes fakes(8);
    const auto shards = [&](Sums sums, uint64_t seed) {
      std::vector<std::string> result;
      for (const StepsResult& rank : OnRanks(program, {}, sums, seed, 1))
        result.push_back(rank.shards[1]);
      return result;
    };
    const auto once = shards(Sums::kRepeatable, 1), fast = shards(Sums::kFast, 1);
    bool differ = false;
    for (uint64_t seed = 2; seed < 8; ++seed) {
      CHECK(shards(Sums::kRepeatable, seed) == once);
      differ = differ || shards(Sums::kFast, seed) != fast;
    }
    CHECK(differ);  // else the fake would not show anything
  }
}

TEST_CASE("What the user has set for NCCL stays") {
  setenv("NCCL_ALGO", "Tree", 1);
  CHECK(SetNcclEnvironment(Sums::kFast).empty());
  CHECK(std::getenv("NCCL_NVLS_ENABLE") == nullptr);
  CHECK_THAT(SetNcclEnvironment(Sums::kRepeatable),
             Catch::Contains("NCCL_ALGO=Tree is set") && Catch::Contains("--sums"));
  CHECK(std::getenv("NCCL_ALGO") == std::string("Tree"));
  ForgetEnvironment();
  CHECK(SetNcclEnvironment(Sums::kRepeatable).empty());
  CHECK(std::getenv("NCCL_ALGO") == std::string("Ring"));
  CHECK(std::getenv("NCCL_NVLS_ENABLE") == std::string("0"));
  ForgetEnvironment();
}

TEST_CASE("Exchanges that join each other are one group of NCCL") {
  for (const int devices : {2, 3, 8}) {
    for (const bool joined : {true, false}) {
      for (const bool poison : {false, true}) {
        for (const Sums sums : kAllSums) {
          INFO(devices << " devices, " << joined << poison << " " << Name(sums));
          const Program program = runtime::TwoByTwo(devices, joined);
          const Results expected = OnHost(program, 4);
          OnFakes fakes(devices);
          RunOptions options;
          options.poison = poison;
          const Results found = OnRanks(program, options, sums, 9, 4);
          // A guard looks between instructions.
          CHECK(found[0].groups == 4 * (joined && !poison ? 2 : 4));
          for (size_t d = 0; d < found.size(); ++d) {
            CHECK(found[d].bytes_in == expected[d].bytes_in);
            for (size_t b = 0; b < found[d].shards.size(); ++b)
              CHECK(Apart(found[d].shards[b], expected[d].shards[b], devices) < 1e-6);
          }
          if (sums == Sums::kOrdered) CHECK(found == expected);
        }
      }
    }
  }
}

TEST_CASE("Ranks with another --sums than rank 0 are refused, and who does not use NCCL at all") {
  const Program program = runtime::TwoByTwo(2, false);
  OnFakes fakes(2);
  std::vector<absl::Status> statuses(2);
  std::vector<RankFacts> facts = runtime::FactsOfRanks(2);
  for (RankFacts& rank : facts) rank.host = "node";
  runtime::LocalNetwork network(2);
  runtime::RunJob(network, facts, runtime::Long(), [&](runtime::Job& job) {
    RunOptions options = OnCuda();
    options.job = &job;
    if (job.rank() == 1) options.cuda.sums = Sums::kFast;
    statuses[job.rank()] = runtime::Session::Open(program, options).status();
    return 2;
  });
  for (const absl::Status& status : statuses)
    CHECK_THAT(status, StatusIs(absl::StatusCode::kInvalidArgument, "another value of --sums"));
  for (const char* backend : {"host", "cuda"}) {
    RunOptions options;
    options.backend = backend;
    for (const Sums sums : {Sums::kRepeatable, Sums::kFast}) {
      options.cuda.sums = sums;
      CHECK_THAT(runtime::Session::Open(program, options),
                 StatusIs(absl::StatusCode::kInvalidArgument, "is for ranks on GPUs"));
    }
    options.cuda.sums = Sums::kOrdered;
    CHECK_THAT(runtime::Session::Open(program, options), IsOk());
  }
  ForgetEnvironment();
}

}  // namespace
}  // namespace yuba::cuda

#endif  // YUBA_WITH_CUDA
