// Under mpirun, torchrun or srun each rank is a whole copy of a run: it says so, and runs.
#include "tools/run/launcher.h"

#include <catch2/catch.hpp>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "tests/support/command.h"

namespace yuba::tools {
namespace {

using Variables = std::map<std::string, std::string>;

std::string LaunchedBy(const Variables& variables) {
  const auto copy = CopyOfLauncher([&](const char* name) -> const char* {
    const auto found = variables.find(name);
    return found == variables.end() ? nullptr : found->second.c_str();
  });
  if (!copy.has_value()) return "";
  return copy->launcher + " " + std::to_string(copy->rank) + " of " + std::to_string(copy->size);
}

TEST_CASE("rank and size are those of the innermost launcher") {
  const Variables open_mpi = {{"OMPI_COMM_WORLD_RANK", "1"}, {"OMPI_COMM_WORLD_SIZE", "2"}};
  const Variables slurm = {{"SLURM_PROCID", "0"}, {"SLURM_NTASKS", "4"}};
  CHECK(LaunchedBy({}).empty());
  CHECK(LaunchedBy(open_mpi) == "mpirun 1 of 2");
  CHECK(LaunchedBy({{"PMI_RANK", "0"}, {"PMI_SIZE", "3"}}) == "mpiexec 0 of 3");
  Variables variables = slurm;
  CHECK(LaunchedBy(variables).empty());  // a batch script
  variables["SLURM_STEP_NUM_TASKS"] = "1";
  CHECK(LaunchedBy(variables).empty());
  variables["SLURM_STEP_NUM_TASKS"] = "4";
  CHECK(LaunchedBy(variables) == "srun 0 of 4");
  variables.insert(open_mpi.begin(), open_mpi.end());
  CHECK(LaunchedBy(variables) == "mpirun 1 of 2");
  variables["OMPI_COMM_WORLD_RANK"] = "0";
  variables["OMPI_COMM_WORLD_SIZE"] = "1";  // one process of mpirun in a step of several
  CHECK(LaunchedBy(variables).empty());
  const Variables ranks = {{"RANK", "1"}, {"WORLD_SIZE", "8"}};
  CHECK(LaunchedBy(ranks).empty());  // anybody exports these
  variables.insert(ranks.begin(), ranks.end());
  variables["TORCHELASTIC_RUN_ID"] = "none";
  CHECK(LaunchedBy(variables) == "torchrun 1 of 8");
}

TEST_CASE("what is no rank and no size is no launcher") {
  for (const Variables& variables : {Variables{{"PMI_RANK", "1"}}, Variables{{"PMI_SIZE", "2"}},
                                     Variables{{"PMI_RANK", "x"}, {"PMI_SIZE", "2"}},
                                     Variables{{"PMI_RANK", "2"}, {"PMI_SIZE", "2"}},
                                     Variables{{"PMI_RANK", "-1"}, {"PMI_SIZE", "2"}},
                                     Variables{{"PMI_RANK", ""}, {"PMI_SIZE", ""}},
                                     // Never of two launchers.
                                     Variables{{"PMI_RANK", "1"}, {"OMPI_COMM_WORLD_SIZE", "2"}}}) {
    CHECK(LaunchedBy(variables).empty());
  }
}

TEST_CASE("a copy of a run says so, and the first alone writes checkpoints") {
  const std::string folder = ScratchFolder("launcher");
  const std::string model = RepositoryFile("tests/models/mlp/model.onnx");
  Succeed("yuba partition " + model + " --train sgd --loss softmax-cross-entropy --lr 0.1 " +
          "--devices 2 -o " + folder + "/p.json");
  Succeed("yuba compile " + model + " " + folder + "/p.json -o " + folder + "/p.yuba");
  for (const std::string& run : std::vector<std::string>{
           "yuba run " + model + " " + folder + "/p.json", "yuba-run " + folder + "/p.yuba"}) {
    INFO(run);
    for (const std::string rank : {"0", "1"}) {
      const std::string saved = folder + "/saved" + rank;
      const CommandResult result =
          Succeed("PMI_RANK=" + rank + " PMI_SIZE=2 " + run + " --random --save " + saved);
      CHECK(result.error.find("warning: mpiexec has started 2 whole copies of this run") !=
            std::string::npos);
      CHECK(std::filesystem::exists(saved) == (rank == "0"));
      std::filesystem::remove(saved);
    }
    CHECK(Succeed(run + " --random").error.empty());
  }
}

}  // namespace
}  // namespace yuba::tools
