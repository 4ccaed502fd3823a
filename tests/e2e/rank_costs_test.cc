// What ranks cost is what the plan says: a rank's memory is that of its device, and what MPI sends
// between ranks is what `--json` counts.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "nlohmann/json.hpp"
#include "runtime/ranks/words.h"
#include "tests/support/command.h"

namespace yuba {
namespace {

nlohmann::json JsonOf(const CommandResult& run) {
  const size_t begin = run.out.find('{');
  REQUIRE(begin != run.out.npos);
  return nlohmann::json::parse(run.out.substr(begin));
}

TEST_CASE("a rank has the memory of its device in the plan, and a constant") {
  const std::string folder = ScratchFolder("memory"), program = folder + "/program.yuba";
  const std::string model = folder + "/model.onnx", plan = folder + "/plan.json";
  Succeed("yuba zoo mlp --width 2048 --layers 13 --batch 4 -o " + model);
  Succeed("yuba partition " + model + " --devices 2 -o " + plan);
  Succeed("yuba compile " + model + " " + plan + " -o " + program);
  constexpr int64_t kWeights = int64_t{12} * 2048 * 2048 * 4, kConstant = 48 << 20;
  const CommandResult alone = Succeed("yuba-run " + program + " --random --json");
  CHECK(alone.peak_bytes > kWeights);
  const CommandResult ranks =
      Succeed("yuba-run " + program + " --random --json --ranks 2 --interface lo");
  const nlohmann::json json = JsonOf(ranks);
  const int64_t device =
      json["arena_bytes"].get<int64_t>() + json["workspace_bytes"].get<int64_t>();
  // Some processors' libraries keep weights in a form of their own, as workspace.
  CHECK(json["arena_bytes"].get<int64_t>() > kWeights / 2);
  CHECK(json["arena_bytes"].get<int64_t>() < kWeights / 2 + (4 << 20));
  INFO(ranks.peak_bytes << " bytes where the plan has " << device);
  CHECK(ranks.peak_bytes > device);
  CHECK(ranks.peak_bytes < device + kConstant);
}

// Bytes that Open MPI has sent from rank to rank, as it counts them itself.
std::vector<std::vector<int64_t>> SentBytes(const std::string& file, int ranks) {
  std::vector<std::vector<int64_t>> sent(ranks, std::vector<int64_t>(ranks, 0));
  for (int rank = 0; rank < ranks; ++rank) {
    std::ifstream profile(file + "." + std::to_string(rank) + ".prof");
    REQUIRE(profile.is_open());
    std::string line;
    while (std::getline(profile, line)) {
      std::istringstream words(line);
      std::string kind;
      int from = 0, to = 0;
      int64_t bytes = 0;
      if (!(words >> kind) || kind != "E" || !(words >> from >> to >> bytes)) continue;
      REQUIRE(from == rank);
      REQUIRE(to < ranks);
      sent[from][to] += bytes;
    }
  }
  return sent;
}

// What is sent in each step beside the plan's exchanges, on the data channel: whether a signal came
// (StopRequest), to rank 0 and back, and each number of the step from rank 0 to all (the size of it
// and four bytes).
int64_t BesideExchanges(int from, int to, int numbers) {
  if (from != 0) return to == 0 ? 1 : 0;
  return 1 + numbers * (8 + 4);
}

TEST_CASE("what Open MPI says that it has sent is what is said to move") {
  if (std::system("command -v mpirun.openmpi > /dev/null 2>&1") != 0) {
    WARN("SKIP: mpirun.openmpi is missing");
    return;
  }
  for (const int ranks : {2, 4}) {
    const std::string folder = ScratchFolder("sent"), program = folder + "/program.yuba";
    const std::string model = RepositoryFile("tests/models/gpt") + "/model.onnx";
    const std::string plan = folder + "/plan.json", count = std::to_string(ranks);
    Succeed("yuba partition " + model + " --train adam --loss softmax-cross-entropy --devices " +
            count + " -o " + plan);
    Succeed("yuba compile " + model + " " + plan + " -o " + program);
    std::vector<nlohmann::json> said;
    std::vector<std::vector<std::vector<int64_t>>> sent;
    for (const std::string steps : {"1", "3"}) {
      const std::string file = folder + "/steps" + steps;
      said.push_back(JsonOf(Succeed(
          "env OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 "
          "OMPI_MCA_btl_tcp_if_include=lo OMPI_MCA_oob_tcp_if_include=lo mpirun.openmpi "
          "--oversubscribe --mca pml_monitoring_enable 2 --mca pml_monitoring_enable_output 3 "
          "--mca pml_monitoring_filename " +
          file + " -n " + count + " yuba-run " + program + " --random --json --steps " + steps)));
      sent.push_back(SentBytes(file, ranks));
    }
    // Two steps more. What rank 0 and another one tell each other many times a second is of its
    // own sizes, and comes any number of times.
    const int64_t word = sizeof(runtime::RankWord), answer = sizeof(runtime::Answer);
    const int numbers = static_cast<int>(said[0]["numbers"].size());
    std::vector<int64_t> in(ranks, 0), out(ranks, 0);
    for (int from = 0; from < ranks; ++from) {
      for (int to = 0; to < ranks; ++to) {
        if (from == to) continue;
        const int64_t bytes =
            sent[1][from][to] - sent[0][from][to] - 2 * BesideExchanges(from, to, numbers);
        out[from] += bytes;
        in[to] += bytes;
      }
    }
    for (int rank = 0; rank < ranks; ++rank) {
      INFO("rank " << rank << " of " << ranks);
      const auto more = [&](const char* name) {
        return said[1][name][rank].get<int64_t>() - said[0][name][rank].get<int64_t>();
      };
      CHECK(more("bytes_out") > 0);
      // Rank 0 sends answers and gets words, the others the other way round.
      CHECK((out[rank] - more("bytes_out")) % (rank == 0 ? answer : word) == 0);
      CHECK((in[rank] - more("bytes_in")) % (rank == 0 ? word : answer) == 0);
    }
  }
}

}  // namespace
}  // namespace yuba
