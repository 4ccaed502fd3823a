// The part of `tools/gpu_check` for runs of ranks, on processors, and on fake GPUs as far as ranks
// of several processes go there: what passes, what is noticed.
#include <catch2/catch.hpp>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "nlohmann/json.hpp"
#include "tests/support/command.h"
#include "tests/tools/gpu_bundle.h"

namespace yuba {
namespace {

using Catch::Contains;

constexpr char kConformance[] =
    "^ranks (models|hash models) mlp on [24]$|^ranks training gpt f32 on 2";

TEST_CASE("ranks of each launcher have the answers, losses, bits and bytes of one process") {
  const Bundle bundle("host", kConformance);
  // As where the check itself is a rank of a job.
  const CommandResult ran = bundle.Check(
      "",
      "RANK=5 WORLD_SIZE=9 LOCAL_RANK=1 TORCHELASTIC_RUN_ID=x OMPI_COMM_WORLD_RANK=1 "
      "OMPI_COMM_WORLD_SIZE=2 PMI_RANK=3 PMI_SIZE=4 SLURM_PROCID=1 SLURM_STEP_NUM_TASKS=4 ");
  INFO(ran.out << ran.error);
  CHECK(ran.exit_code == 0);
  CHECK_THAT(ran.out, Contains("| ranks | 5 | 0 | 0 |"));
  const nlohmann::json report = Read(bundle.scratch + "/report/report.json");
  for (const char* name : {"ranks models mlp on 2", "ranks training gpt f32 on 2"}) {
    const nlohmann::json& result = ResultOf(report, name);
    CHECK(result["bytes"] > 0);
    std::vector<std::string> ways = {"--ranks ordered"};
    for (const char* launcher : {"mpirun.openmpi", "mpiexec.hydra", "torchrun"}) {
      const std::string left_out = "ranks by " + std::string(launcher);
      if (!IsThere(launcher))
        CHECK_THAT(ran.out, Contains(left_out + " (not installed)"));
      else if (ran.out.find(left_out + " on 2 (more than processors)") == std::string::npos)
        ways.push_back(std::string(launcher) + " ordered");
    }
    CHECK(result["ways"] == ways);
  }
}

TEST_CASE("wrong answers, losses, bits and bytes of ranks fail alone") {
  const Bundle bundle("host", kConformance);
  nlohmann::json packed = Read(bundle.folder + "/cases.json");
  bundle.Case(packed, "ranks models mlp on 2")["run"] = {"--inputs", "DATA", "--expect", "0"};
  nlohmann::json& bytes = bundle.Case(packed, "ranks models mlp on 4")["bytes"];
  bytes = bytes.get<int64_t>() + 1;
  bundle.Case(packed, "ranks hash models mlp on 2")["digests"]["output_0.npy"] = "another";
  bundle.Case(packed, "ranks training gpt f32 on 2")["losses"][1] = 2.5;
  Write(bundle.folder + "/cases.json", packed.dump());
  const CommandResult ran = bundle.Check();
  INFO(ran.out << ran.error);
  CHECK(ran.exit_code == 1);
  CHECK_THAT(ran.out, Contains("| ranks | 1 | 4 | 0 |"));
  for (const char* line :
       {"- ranks models mlp on 2: one process: exit 1: ",
        "- ranks models mlp on 4: --ranks ordered: moved ",
        "- ranks hash models mlp on 2: --ranks ordered: other bits than processors: output_0.npy",
        "- ranks training gpt f32 on 2: one process: losses: "})
    CHECK_THAT(ran.out, Contains(line));
}

TEST_CASE("ranks whose bits or losses are not those of one process are a failure") {
  const Bundle bundle("host", kConformance);
  nlohmann::json packed = Read(bundle.folder + "/cases.json");
  bundle.Case(packed, "ranks models mlp on 2")["run"] = nlohmann::json::array();
  nlohmann::json& training = bundle.Case(packed, "ranks training gpt f32 on 2");
  training["run"] = {"--steps", "3"};
  training.erase("losses");
  Write(bundle.folder + "/cases.json", packed.dump());
  // Ranks get other values than one process does.
  bundle.Wrap(
      "case \"$*\" in *--sums*) seed=7;; *) seed=8;; esac\nexec $RUN \"$@\" --random=$seed");
  const CommandResult ran = bundle.Check("--only 'ranks (models|training).* on 2'");
  INFO(ran.out << ran.error);
  CHECK(ran.exit_code == 1);
  CHECK_THAT(ran.out, Contains("| ranks | 0 | 2 | 0 |"));
  CHECK_THAT(ran.out, Contains("- ranks models mlp on 2: --ranks ordered: other bits than one "
                               "process: output_0.npy"));
  CHECK_THAT(ran.out, Contains("- ranks training gpt f32 on 2: --ranks ordered: other losses than "
                               "one process: "));
}

TEST_CASE("what no case would run is not packed") {
  const std::string archive = ScratchFolder("packed") + "/check.tar.gz";
  const CommandResult packed = RunCommand(
      "python3 " + RepositoryFile("tools/gpu/check.py") + " --target host --pack " + archive +
      " --bin $(dirname $(command -v yuba)) --only 'ranks operators abs on 2'");
  INFO(packed.out << packed.error);
  CHECK(packed.exit_code == 2);
  CHECK_THAT(packed.error, Contains("nothing to pack"));
  CHECK_FALSE(std::filesystem::exists(archive));
}

// add and and gather alike.
TEST_CASE("forward operators of ranks are packed where they sum, or exchange in another way") {
  const Bundle bundle("host", "^ranks (hash )?operators (add|and|reduce_(mean|sum)|relu) on 2$");
  const nlohmann::json packed = Read(bundle.folder + "/cases.json");
  std::vector<std::string> names;
  for (const nlohmann::json& one : packed["cases"])
    names.push_back(one["name"].get<std::string>().substr(std::string("ranks ").size()));
  CHECK(names == std::vector<std::string>{
                     "hash operators add on 2", "operators add on 2", "hash operators and on 2",
                     "hash operators reduce_mean on 2", "operators reduce_mean on 2",
                     "hash operators reduce_sum on 2", "operators reduce_sum on 2",
                     "hash operators relu on 2", "operators relu on 2"});
}

TEST_CASE("a step of ranks stands beside its prediction, which was packed with it") {
  const Bundle bundle("host", "^rank times gpt2 forward on [28]$");
  const CommandResult ran = bundle.Check();
  INFO(ran.out << ran.error);
  CHECK(ran.exit_code == 0);
  CHECK_THAT(ran.out, Contains("| rank_times | 1 | 0 | 0 |"));
  CHECK_THAT(ran.out, Contains("ranks on 8 devices of their own (here: 4)"));
  const nlohmann::json packed = Read(bundle.folder + "/cases.json");
  const std::string program =
      bundle.folder + "/" + packed["cases"][0]["program"].get<std::string>();
  const nlohmann::json model = nlohmann::json::parse(
      Succeed("yuba-run " + program + " --backend model --machine host --json").out);
  const double predicted = 1e3 * model["predicted"][0]["seconds"].get<double>();
  const nlohmann::json report = Read(bundle.scratch + "/report/report.json");
  const double step = ResultOf(report, "rank times gpt2 forward on 2")["step_ms"];
  const std::vector<std::string> row = RowOf(ran.out, "gpt2 forward on 2");
  REQUIRE(row.size() == 8);
  CHECK(std::stod(row[1]) == Approx(step).margin(0.005));
  CHECK(std::stod(row[2]) == Approx(predicted).margin(0.005));
  CHECK(row[4] == "host");
}

// Ranks that exchange would fail there (below).
TEST_CASE("one process has all devices of other cases, also where there is a GPU for each") {
#ifndef YUBA_WITH_CUDA
  WARN("SKIP: built without CUDA");
  return;
#endif
  const Bundle bundle("cuda", "^models/mlp on 3$");
  const std::string stubs = StubFolder();
  const CommandResult ran =
      bundle.Check("", "FAKE_GPUS=3 PATH=" + stubs + ":$PATH LD_LIBRARY_PATH=" + stubs + " ");
  INFO(ran.out << ran.error);
  CHECK_THAT(ran.out, Contains("| answer | 1 | 0 | 0 |"));
}

// NCCL's fake knows one process alone, so that these ranks never meet.
TEST_CASE("ranks share a fake GPU, or have one each") {
#ifndef YUBA_WITH_CUDA
  WARN("SKIP: built without CUDA");
  return;
#endif
  const Bundle bundle("cuda", "^ranks (hash )?operators relu on 2");
  const std::string stubs = StubFolder();
  for (const std::string gpus : {"1", "2"}) {
    bundle.Wrap("echo \"$*\" >> " + bundle.scratch + "/lines" + gpus + "\nexec $RUN \"$@\"");
    const CommandResult ran = bundle.Check(
        "", "FAKE_GPUS=" + gpus + " PATH=" + stubs + ":$PATH LD_LIBRARY_PATH=" + stubs + " ");
    INFO(ran.out << ran.error);
    CHECK(ran.exit_code == 0);
    CHECK_THAT(ran.out, Contains("| ranks | 2 | 0 | 0 |"));
    const std::string lines = Succeed("cat " + bundle.scratch + "/lines" + gpus).out;
    CHECK_THAT(lines, Contains("--sums ordered") && Contains("--sums repeatable"));
    CHECK((lines.find("--share-gpu") != std::string::npos) == (gpus == "1"));
    Succeed("cd " + bundle.folder + " && mv yuba-run-itself yuba-run");
  }
}

}  // namespace
}  // namespace yuba
