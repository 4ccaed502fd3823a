// Which GPU each rank has, and what is said of it.
#include "runtime/cuda/rank_gpus.h"

#include <catch2/catch.hpp>

#include "tests/runtime/ranks/run_job.h"
#include "tests/support/status_matchers.h"

namespace yuba::cuda {
namespace {

using runtime::RankFacts;

std::vector<RankFacts> On(const std::vector<std::string>& hosts) {
  std::vector<RankFacts> facts = runtime::FactsOfRanks(static_cast<int>(hosts.size()));
  for (size_t rank = 0; rank < hosts.size(); ++rank) facts[rank].host = hosts[rank];
  return facts;
}

std::vector<GpuFacts> Seen(const std::vector<std::string>& uuids) {
  std::vector<GpuFacts> gpus;
  for (const std::string& uuid : uuids) gpus.push_back({"a GPU", 1 << 30, 90, uuid});
  return gpus;
}

TEST_CASE("a rank's number on its host is its place among the ranks there") {
  const std::vector<RankFacts> ranks = On({"a", "b", "a", "b", "b"});
  CHECK(LocalRankOf(ranks, 0) == 0);
  CHECK(LocalRankOf(ranks, 1) == 0);
  CHECK(LocalRankOf(ranks, 2) == 1);
  CHECK(LocalRankOf(ranks, 4) == 2);
}

TEST_CASE("a rank has the GPU of its number, or the one that it sees") {
  CHECK(ChooseGpu(Seen({"u", "v", "w"}), 1, false).uuid == "v");
  CHECK(ChooseGpu(Seen({"u"}), 3, false).uuid == "u");
  CHECK(ChooseGpu(Seen({"u", "v"}), 2, false).number == -1);
  CHECK(ChooseGpu(Seen({"u", "v"}), 2, true).uuid == "u");
}

TEST_CASE("GPUs are gathered, and what is wrong with them is the same error on all ranks") {
  const std::vector<RankFacts> ranks = On({"a", "a", "b"});
  std::vector<std::vector<RankGpu>> gathered(3);
  runtime::LocalNetwork network(3);
  runtime::RunJob(network, ranks, runtime::Long(), [&](runtime::Job& job) {
    auto gpus = GatherGpus(job, {2, job.rank() % 2, job.rank() == 1 ? "GPU-v" : "GPU-u"});
    if (gpus.ok()) gathered[job.rank()] = *std::move(gpus);
    return 0;
  });
  for (const std::vector<RankGpu>& gpus : gathered) {
    REQUIRE(gpus.size() == 3);
    CHECK(gpus[1].uuid == "GPU-v");
    CHECK(gpus[1].number == 1);
    CHECK(gpus[2].visible == 2);
    CHECK_THAT(CheckGpus(ranks, gpus, false),
               StatusIs(absl::StatusCode::kInvalidArgument,
                        "rank 0 (host a, process 100) and rank 2 (host b, process 102) have the "
                        "same GPU, number 0 of 2 on host b (GPU-u)"));
    CHECK_THAT(CheckGpus(ranks, gpus, true), IsOk());
  }
}

TEST_CASE("a rank without a GPU is named with what it sees") {
  CHECK_THAT(
      CheckGpus(On({"a", "a"}), {{1, 0, "u"}, {1, -1, ""}}, true),
      StatusIs(absl::StatusCode::kInvalidArgument,
               "rank 1 (host a, process 101) has no GPU: it sees 1, and 1 rank of its host"));
}

TEST_CASE("a note where ranks of one host do not see each other's GPUs") {
  CHECK(NoteOnGpus(On({"a", "b"}), {{1, 0, "u"}, {1, 0, "v"}}).empty());
  CHECK(NoteOnGpus(On({"a", "a"}), {{2, 0, "u"}, {2, 1, "v"}}).empty());
  CHECK(NoteOnGpus(On({"a", "a"}), {{1, 0, "u"}, {1, 0, "u"}}).empty());  // shared
  CHECK_THAT(NoteOnGpus(On({"a", "a", "b"}), {{1, 0, "u"}, {1, 0, "v"}, {1, 0, "w"}}),
             Catch::Contains("ranks of host a do not see each other's GPUs") &&
                 Catch::Contains("--gres=gpu:2 --gpu-bind=none"));
}

}  // namespace
}  // namespace yuba::cuda
