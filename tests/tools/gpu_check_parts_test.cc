// What the scripts of tools/gpu find of a machine: its GPUs, launchers and libraries, and the
// machine whose predictions stand beside its times.
#include <catch2/catch.hpp>
#include <map>
#include <string>

#include "tests/support/command.h"
#include "tests/tools/gpu_bundle.h"

namespace yuba {
namespace {

using Catch::Contains;

// What this prints where the modules of tools/gpu are imported.
std::string Printed(const std::string& imports, const std::string& expression,
                    const std::string& environment = "") {
  const std::string script = ScratchFolder("script") + "/script.py";
  Write(script, "import sys\nsys.path.insert(0, '" + RepositoryFile("tools/gpu") + "')\nimport " +
                    imports + "\nprint(" + expression + ")\n");
  std::string out = Succeed(environment + "python3 " + script).out;
  if (!out.empty()) out.pop_back();
  return out;
}

TEST_CASE("GPUs are those that CUDA shows") {
  const std::string stubs = StubFolder();
  Succeed("sed -i 's/9.0;; esac/$((8 + i % 2)).0;; esac/' " + stubs + "/nvidia-smi");
  for (const auto& [visible, found] :
       std::map<std::string, std::string>{{"", "[80, 90, 80]"},
                                          {"CUDA_VISIBLE_DEVICES= ", "[]"},
                                          {"CUDA_VISIBLE_DEVICES=1 ", "[90]"},
                                          {"CUDA_VISIBLE_DEVICES='2, 1' ", "[80, 90]"},
                                          {"CUDA_VISIBLE_DEVICES=0,-1,1 ", "[80]"},
                                          {"CUDA_VISIBLE_DEVICES=0,3,1 ", "[80]"},
                                          {"CUDA_VISIBLE_DEVICES=GPU-2,GPU-1f ", "[80, 90]"},
                                          {"CUDA_VISIBLE_DEVICES=GPU-7 ", "[]"},
                                          {"CUDA_VISIBLE_DEVICES=MIG-GPU-0/1/0 ", "[80]"}}) {
    INFO(visible);
    const std::string environment = visible + "FAKE_GPUS=3 PATH=" + stubs + ":$PATH ";
    CHECK(Printed("machine", "machine.visible_gpus()", environment) == found);
  }
  CHECK(Printed("machine", "machine.gpus(), machine.sm_of_first_gpu()",
                "CUDA_VISIBLE_DEVICES=1,0 FAKE_GPUS=2 PATH=" + stubs + ":$PATH ") == "2 90");
  CHECK(Printed("machine", "machine.gpus(), machine.sm_of_first_gpu()",
                "FAKE_GPUS=0 PATH=" + stubs + ":$PATH ") == "0 None");
}

TEST_CASE("times stand beside predictions for machines with the very same GPUs") {
  const auto machine = [](const std::string& gpus) {
    return Printed("pack_ranks, rank_times",
                   "(rank_times.prediction({'predicted': pack_ranks.MACHINES}, '" + gpus + "'))");
  };
  const std::string rest = ", 143771 MiB, 580.1, 9.0";
  CHECK(machine("NVIDIA H200" + rest) == "hgx-h200@libraries");
  CHECK(machine("NVIDIA H200" + rest + "\\nNVIDIA H200" + rest) == "hgx-h200@libraries");
  CHECK(machine("NVIDIA H100 80GB HBM3" + rest) == "hgx-h100@libraries");
  CHECK(machine("NVIDIA A100-SXM4-80GB" + rest) == "dgx-a100");
  for (const char* other :
       {"NVIDIA GH200 480GB", "NVIDIA H200 NVL", "NVIDIA H100 PCIe", "NVIDIA H100 NVL",
        "NVIDIA A100-PCIE-40GB", "NVIDIA A100-SXM4-40GB", "NVIDIA A100 80GB PCIe"}) {
    INFO(other);
    CHECK(machine(other + rest) == "None");
    CHECK(machine("NVIDIA H200" + rest + "\\n" + other + rest) == "None");
  }
  CHECK(machine("no nvidia-smi") == "None");
  const std::string row = Printed(
      "rank_times",
      "rank_times.row({'name': 'rank times gpt2 on 2', 'step_ms': 1, 'bytes': 2, 'arena_bytes': 3, "
      "'groups_a_step': 4, 'predicted': {'NVIDIA H200': {}}}, 'NVIDIA GH200 480GB, 1')");
  CHECK(row == "['gpt2 on 2', '1.00', '', '', 'none is known', '0.00', '4', '0']");
}

TEST_CASE("runs have what the user has set, but nothing of a launcher that started the check") {
  const std::string kept = Printed(
      "machine", "sorted(machine.environment())",
      "env -i PATH=$PATH OMPI_MCA_btl=tcp,self NCCL_DEBUG=WARN NAME=x RANK=1 WORLD_SIZE=2 "
      "LOCAL_RANK=0 LOCAL_WORLD_SIZE=2 GROUP_RANK=0 MASTER_ADDR=a MASTER_PORT=1 YUBA_RANK=0 "
      "TORCHELASTIC_RUN_ID=x OMPI_COMM_WORLD_RANK=1 PMI_RANK=1 PMIX_RANK=1 "
      "MPI_LOCALRANKID=1 SLURM_PROCID=1 OMPI_MCA_ess=x OMPI_MCA_orte_hnp_uri=y ");
  for (const char* name : {"'OMPI_MCA_btl'", "'NCCL_DEBUG'", "'NAME'", "'PATH'"})
    CHECK_THAT(kept, Contains(name));
  for (const char* name :
       {"RANK", "WORLD_SIZE", "MASTER", "TORCH", "COMM", "PMI", "SLURM", "ess", "orte"})
    CHECK_THAT(kept, !Contains(name));
}

// An empty folder would be the one where the check runs.
TEST_CASE("the loader looks in no folder that nobody names") {
  const auto folders = [](const std::string& before) {
    return Printed("machine",
                   "machine.with_libraries({" + before + "}, ['/bundle/lib'])['LD_LIBRARY_PATH']");
  };
  CHECK(folders("") == "/bundle/lib");
  CHECK(folders("'LD_LIBRARY_PATH': ''") == "/bundle/lib");
  CHECK(folders("'LD_LIBRARY_PATH': '/a::/b:'") == "/a:/b:/bundle/lib");
}

TEST_CASE("a transport that cannot be loaded, or takes too long, is left out with its reason") {
  CHECK_THAT(Printed("rank_jobs", "rank_jobs.find_launchers('/nowhere', {})[1]"),
             Contains("--ranks (OSError: /nowhere/libyuba_gloo.so: cannot open shared object"));
  const std::string slow = ScratchFolder("slow") + "/python";
  Write(slow, "#!/bin/sh\nexec sleep 1000\n");
  Succeed("chmod +x " + slow);
  CHECK(Printed("rank_jobs, sys",
                "setattr(rank_jobs, 'SECONDS_TO_LOAD', 1) or setattr(sys, 'executable', '" + slow +
                    "') or rank_jobs.why_not_loaded('a', {})") == "not loaded after 1 s");
  CHECK_THAT(Printed("rank_jobs, sys",
                     "setattr(sys, 'executable', '/nowhere/python') or "
                     "rank_jobs.why_not_loaded('a', {})"),
             Contains("No such file or directory"));
}

TEST_CASE("a launcher whose ranks would be more than processors is said to be left out") {
  const std::string said = Printed(
      "os, types, rank_jobs, rank_runs",
      "rank_runs.RankRunner.left_out(types.SimpleNamespace(missing=['b (not installed)'], gpus=4, "
      "can_run=lambda case: case['devices'] <= 4, launchers=[(one, {}) for one in "
      "rank_jobs.LAUNCHERS]), [{'devices': count, 'launchers': count < 64} for count in (2, 4, 8)] "
      "if not setattr(os, 'cpu_count', lambda: 2) else [])");
  CHECK(said ==
        "['ranks on 8 devices of their own (here: 4)', 'ranks by b (not installed)', "
        "'ranks by mpiexec.hydra on 4 (more than processors)']");
}

}  // namespace
}  // namespace yuba
