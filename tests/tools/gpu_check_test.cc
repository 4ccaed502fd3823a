// `tools/gpu_check` from end to end, with programs for processors, and for GPUs on fake ones: what
// passes, what is noticed.
#include <catch2/catch.hpp>
#include <map>
#include <string>
#include <vector>

#include "nlohmann/json.hpp"
#include "tests/support/command.h"
#include "tests/tools/gpu_bundle.h"

namespace yuba {
namespace {

TEST_CASE("a bundle runs where it was made for, and says what passed") {
  const Bundle bundle;
  const CommandResult ran = bundle.Check();
  INFO(ran.out << ran.error);
  CHECK(ran.exit_code == 0);
  CHECK(ran.out.find("| answer | 7 | 0 | 0 |") != std::string::npos);
  CHECK(ran.out.find("| hash | 4 | 0 | 0 |") != std::string::npos);
  CHECK(ran.out.find("| refused | 4 | 0 | 0 |") != std::string::npos);
  CHECK(ran.out.find("| training | 8 | 0 | 0 |") != std::string::npos);
  const nlohmann::json report = Read(bundle.scratch + "/report/report.json");
  CHECK(report["results"].size() == 23);
  CHECK(report["target"] == "host");
}

TEST_CASE("wrong answers, wrong losses and broken programs fail alone") {
  const Bundle bundle;
  nlohmann::json packed = Read(bundle.folder + "/cases.json");
  bundle.Case(packed, "models/mlp on 2")["run"] = {"--inputs", "DATA", "--expect", "0"};
  bundle.Case(packed, "training/mlp f32 on 3")["losses"][1] = 2.5;
  bundle.Case(packed, "hash models/mlp on 3")["digests"]["output_0.npy"] = "another";
  bundle.Case(packed, "an id outside on 1")["run"] = {"--inputs", "DATA"};
  bundle.Case(packed, "an id outside on 2")["says"] = "ids holds 7";
  const std::string broken = bundle.Case(packed, "models/mlp on 8")["program"];
  Write(bundle.folder + "/" + broken, "no program");
  Write(bundle.folder + "/cases.json", packed.dump());
  const CommandResult ran = bundle.Check();
  INFO(ran.out << ran.error);
  CHECK(ran.exit_code == 1);
  CHECK(ran.out.find("| answer | 4 | 3 | 0 |") != std::string::npos);
  CHECK(ran.out.find("| hash | 3 | 1 | 0 |") != std::string::npos);
  CHECK(ran.out.find("| refused | 2 | 2 | 0 |") != std::string::npos);
  CHECK(ran.out.find("| training | 7 | 1 | 0 |") != std::string::npos);
  for (const char* line :
       {"- models/mlp on 2: exit 1: step", "- models/mlp on 8: exit 2",
        "- training/mlp f32 on 3: losses: ", "- an id outside on 1: exit 0, where exit 2",
        "- hash models/mlp on 3: other bits than on processors: output_0.npy"})
    CHECK(ran.out.find(line) != std::string::npos);
}

TEST_CASE("what the time does not suffice for is said, and is no failure of the case") {
  const Bundle bundle;
  const CommandResult ran = bundle.Check("--minutes 0.0000001");
  CHECK(ran.exit_code == 1);
  CHECK(ran.out.find("| answer | 0 | 0 | 7 |") != std::string::npos);
  CHECK(ran.out.find("no time was left for 23 cases") != std::string::npos);
}

// What the report says of times is made from traces, on whatever the programs ran.
TEST_CASE("times of kernels and exchanges stand beside their bytes and limits") {
  const Bundle bundle("host", "^models/mlp on 3$");
  nlohmann::json packed = Read(bundle.folder + "/cases.json");
  bundle.Case(packed, "models/mlp on 3").update({{"kind", "time"}, {"same_outputs", true}});
  Write(bundle.folder + "/cases.json", packed.dump());
  const CommandResult ran = bundle.Check();
  INFO(ran.out << ran.error);
  CHECK(ran.exit_code == 0);
  CHECK(ran.out.find("| models/mlp on 3 |") != std::string::npos);
  CHECK(ran.out.find("The longest exchanges of models/mlp on 3:") != std::string::npos);
  const nlohmann::json report = Read(bundle.scratch + "/report/report.json");
  double kernels = 0, received = 0;
  for (const nlohmann::json& one : report["results"][0]["instructions"]) {
    const double count = one["count"];
    if (one["kind"] == "kernel") kernels += count * one["points"].get<double>();
    if (one["kind"] == "exchange") received += count * one["bytes"].get<double>();
  }
  CHECK(kernels > 0);
  CHECK(received > 0);
  CHECK(received <= report["results"][0]["moved_bytes"]);  // of all devices
}

TEST_CASE("programs are timed, run twice with the same bits, and kernels that only move bytes") {
  const Bundle bundle("host", "^(gpt2|resnet-50 bf16|vit).* on 1$|^bulk");
  const CommandResult ran = bundle.Check();
  INFO(ran.out << ran.error);
  CHECK(ran.exit_code == 0);
  for (const char* line : {"| time | 8 | 0 | 0 |", "| bits | 8 | 0 | 0 |", "| bulk | 12 | 0 | 0 |"})
    CHECK(ran.out.find(line) != std::string::npos);
  CHECK(ran.out.find("packed with `--small`") != std::string::npos);
  CHECK(RowOf(ran.out, "ResNet-50 forward f32").back() == "not measured");
  for (const char* row :
       {"ResNet-50 training bf16: channels last", "GPT-2 small training f32: joint calls",
        "GPT-2 small training f32: tuned"})
    CHECK(RowOf(ran.out, row).back() != "not measured");
  const nlohmann::json report = Read(bundle.scratch + "/report/report.json");
  CHECK(report["version"].get<std::string>().find('.') != std::string::npos);
  CHECK(ResultOf(report, "bits of gpt2 forward on 1")["compared"]["outputs"] == 1);
  CHECK(ResultOf(report, "bits of gpt2 training on 1")["compared"]["losses"] == 5);
  // A gigabyte less: the tensor of 128 KiB, and of a sum by rows one number of each 4096.
  CHECK(ResultOf(report, "bulk softmax bf16")["moves"] == 2 << 17);
  CHECK(ResultOf(report, "bulk row sums f32")["moves"] == (1 << 17) + (1 << 17) / 4096);
  // Convolutions say what they are.
  int convolutions = 0;
  for (const nlohmann::json& row :
       ResultOf(report, "resnet-50 bf16 training on 1")["instructions"]) {
    if (!row.contains("call") || row["call"]["call"] != "convolution") continue;
    convolutions += row["count"].get<int>();
    CHECK(row["call"]["windows"].size() == 2);
  }
  CHECK(convolutions >= 4);  // others are products
}

TEST_CASE("two runs that differ are a failure of their own") {
  const Bundle bundle("host", "^gpt2 (forward|training) on 1$");
  nlohmann::json packed = Read(bundle.folder + "/cases.json");
  // The run with a trace gets other values than the one without.
  for (const char* name : {"gpt2 forward on 1", "gpt2 training on 1"})
    bundle.Case(packed, name)["run"] = nlohmann::json::array();
  bundle.Wrap(
      "case \"$*\" in *--trace*) seed=7;; *) seed=8;; esac\nexec $RUN \"$@\" --random=$seed");
  Write(bundle.folder + "/cases.json", packed.dump());
  const CommandResult ran = bundle.Check();
  INFO(ran.out << ran.error);
  CHECK(ran.exit_code == 1);
  CHECK(ran.out.find("| time | 2 | 0 | 0 |") != std::string::npos);
  CHECK(ran.out.find("| bits | 0 | 2 | 0 |") != std::string::npos);
  CHECK(ran.out.find("- bits of gpt2 forward on 1: two runs differ: output_0.npy") !=
        std::string::npos);
  CHECK(ran.out.find("- bits of gpt2 training on 1: two runs differ: loss of step 1, ") !=
        std::string::npos);
}

TEST_CASE("programs for GPUs run on fake GPUs from end to end") {
#ifndef YUBA_WITH_CUDA
  WARN("SKIP: built without CUDA");
  return;
#endif
  const Bundle bundle("cuda",
                      "/mlp.* on [38]|models/gpt on 3|models/conv on 3$|outside on 2|mlp on 2 for "
                      "sm_90|^gpt2 forward on|^gpt2 bf16|^bulk (map|transpose)");
  Succeed("sed -i 's/1 << 30, 8192/1 << 22, 256/' " + bundle.folder + "/gpu/limits.py");
  // In the place of the scripts that need PyTorch.
  Write(bundle.folder + "/gpu/peers.py",
        "print('{\"gpt2 forward\": {\"eager\": 4, \"compiled\": 2, \"peak_bytes\": 9}}\\n{\"gp')");
  Write(bundle.folder + "/gpu/library_calls.py",
        "import json, sys\nprint([0.5] * (len(json.load(open(sys.argv[1]))) - 1))");
  const std::string stubs = StubFolder();
  const CommandResult ran =
      bundle.Check("", "PATH=" + stubs + ":$PATH LD_LIBRARY_PATH=" + stubs + " ");
  INFO(ran.out << ran.error);
  CHECK(ran.exit_code == 0);
  // mlp and gpt on 3, mlp on 8, each in three steps too; conv on 3; one for sm_90.
  for (const char* line :
       {"| answer | 8 | 0 | 0 |", "| hash | 4 | 0 | 0 |", "| refused | 1 | 0 | 0 |",
        "| training | 4 | 0 | 0 |", "| nccl | 1 | 0 | 0 |", "| limits | 1 | 0 | 0 |",
        "| time | 3 | 0 | 0 |", "| bits | 3 | 0 | 0 |", "| bulk | 4 | 0 | 0 |", "fake GPU, 80 GiB",
        "The GPU copies ", "The slowest kernels of gpt2 forward on 1; "})
    CHECK(ran.out.find(line) != std::string::npos);
  const nlohmann::json report = Read(bundle.scratch + "/report/report.json");
  CHECK(report["target"] == "cuda");
  // PyTorch's faster time is 2 ms.
  const std::vector<std::string> gpt2 = RowOf(ran.out, "GPT-2 small forward f32");
  REQUIRE(gpt2.size() == 5);
  const double step = ResultOf(report, "gpt2 forward on 1")["step_ms"];
  CHECK(std::stod(gpt2[1]) == Approx(step / 2).margin(0.005));
  CHECK(gpt2[4] == (step / 2 <= 0.95 ? "reached" : step / 2 <= 1.1 ? "passed" : "missed"));
  CHECK(RowOf(ran.out, "8 virtual devices").at(1) != "");
  CHECK(RowOf(ran.out, "maps, reductions").at(0).find("the least of 4, bulk ") !=
        std::string::npos);
  // Every call has a time of PyTorch, but the one that takes least.
  const nlohmann::json& calls = report["library_calls"];
  REQUIRE(calls.size() > 3);
  for (size_t c = 0; c < calls.size(); ++c) {
    CHECK(calls[c].contains("pytorch_ms") == (c + 1 < calls.size()));
    CHECK(calls[c]["call"]["call"] == "product");
    CHECK((c == 0 || calls[c]["ms"] <= calls[c - 1]["ms"]));
  }
  CHECK(ran.out.find("1 others, of ") != std::string::npos);
  CHECK(RowOf(ran.out, "products of GPT-2").at(0).find(" products, the worst ") !=
        std::string::npos);
}

TEST_CASE("a GPU that is too old for a program leaves it out") {
#ifndef YUBA_WITH_CUDA
  WARN("SKIP: built without CUDA");
  return;
#endif
  const Bundle bundle("cuda", "models/mlp on 2($| for)");
  const std::string stubs = StubFolder();
  Succeed("sed -i 's/9.0/8.0/g' " + stubs + "/nvidia-smi");
  const CommandResult ran = bundle.Check("--only 'on 2( for|$)'",
                                         "PATH=" + stubs + ":$PATH LD_LIBRARY_PATH=" + stubs + " ");
  INFO(ran.out << ran.error);
  CHECK(ran.out.find("cannot run here: models/mlp on 2 for sm_90.") != std::string::npos);
  CHECK(ran.out.find("| answer | 1 | 0 | 0 |") != std::string::npos);
}

// The scripts that call CUDA's libraries themselves.
TEST_CASE("limits of a GPU are measured, and NCCL with one rank moves its bytes") {
#ifndef YUBA_WITH_CUDA
  WARN("SKIP: built without CUDA");
  return;
#endif
  const std::string folder = StubFolder();
  const auto run = [&](const std::string& script) {
    return "LD_LIBRARY_PATH=" + folder + " python3 " + RepositoryFile("tools/gpu/" + script);
  };
  const nlohmann::json limits = nlohmann::json::parse(Succeed(run("limits.py 256")).out);
  CHECK(limits["copy_bytes_per_second"] > 0);
  CHECK(limits["launch_seconds"] > 0);
  CHECK(limits["waited_seconds"] > 0);
  CHECK(limits["flops_per_second"]["bf16"] > 0);
  CHECK(Succeed(run("nccl_smoke.py")).out.find("NCCL 2.") == 0);
  CHECK(RunCommand("YUBA_STUB_FAULT=1 " + run("nccl_smoke.py")).exit_code == 1);
}

TEST_CASE("what is wrong with the command is said before anything is compiled") {
  const std::string folder = ScratchFolder("bad");
  const std::string bin = " --target host --bin $(dirname $(command -v yuba))";
  for (const auto& [flags, words] : std::map<std::string, std::string>{
           {"--pack nowhere/check.tar.gz" + bin, "there is no folder "},
           {"--pack " + folder + bin, "cannot write into this file"},
           {"--pack ''" + bin, "cannot write into this file"},
           {"--pack " + folder + "/a --bin " + folder, "there is no command yuba in " + folder},
           {"--pack " + folder + "/a --only '('" + bin, "( is no regular expression"},
           {"--pack " + folder + "/a --only zzz" + bin, "no case has a name with zzz"},
           {"--minutes nan", "a number above 0 is needed"},
           {"--jobs 0", "1 or more are needed"},
           {"", "no cases.json here"}}) {
    const CommandResult ran =
        RunCommand("python3 " + RepositoryFile("tools/gpu/check.py") + " " + flags);
    INFO(flags << ": " << ran.error);
    CHECK(ran.exit_code == 2);
    CHECK(ran.error.find(words) != std::string::npos);
    CHECK(ran.error.find("Traceback") == std::string::npos);
  }
}

TEST_CASE("what is wrong with a bundle or a machine is said before its cases run") {
  const Bundle bundle("cuda", "^models/mlp on 1$");  // its yuba-run has fake GPUs
  const auto refused = [&](const std::string& flags, const std::string& words) {
    const CommandResult ran = bundle.Check(flags, "CUDA_VISIBLE_DEVICES= ");  // hides real GPUs
    INFO(flags << ": " << ran.out << ran.error);
    CHECK(ran.exit_code == 2);
    CHECK(ran.error.find(words) != std::string::npos);
  };
  refused("--only zzz", "no case has a name with zzz");
  refused("--report /proc/x", "--report /proc/x: ");
  Succeed("cp --remove-destination $(command -v yuba-run) " + bundle.folder + "/yuba-run");
  refused("", "gpu_check: no GPU");
  Succeed("rm " + bundle.folder + "/yuba-run");
  refused("", "yuba-run is missing");
  Write(bundle.folder + "/cases.json", "{");
  refused("", "cases.json is damaged");
}

TEST_CASE("Ctrl-C leaves a report of what was done") {
  const Bundle bundle;
  nlohmann::json packed = Read(bundle.folder + "/cases.json");
  bundle.Case(packed, "models/mlp on 2")["run"] = {"--random", "--steps", "1000000000"};
  Write(bundle.folder + "/cases.json", packed.dump());
  // All processes of the group get the signal, as in a terminal.
  const CommandResult ran = bundle.Check("--jobs 1", "timeout -s INT 5 ");
  INFO(ran.out << ran.error);
  CHECK(ran.out.find("| answer | 1 | 0 | 0 |") != std::string::npos);
  CHECK(ran.error.find("Traceback") == std::string::npos);
  CHECK(ran.out.find("Interrupted: what follows is a part.") != std::string::npos);
  CHECK(Read(bundle.scratch + "/report/report.json")["interrupted"] == true);
}

}  // namespace
}  // namespace yuba
