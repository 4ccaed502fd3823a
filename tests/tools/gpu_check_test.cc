// `tools/gpu_check` from end to end, with programs for processors: what passes, what is noticed.
#include <catch2/catch.hpp>
#include <fstream>
#include <string>

#include "nlohmann/json.hpp"
#include "tests/support/command.h"

namespace yuba {
namespace {

nlohmann::json Read(const std::string& path) {
  std::ifstream file(path);
  return nlohmann::json::parse(file);
}

void Write(const std::string& path, const std::string& text) { std::ofstream(path) << text; }

// A bundle of mlp's cases, unpacked: answers and training, in f32 and bf16, and an id
// outside of its table, on 1, 2, 3 and 8 devices.
struct Bundle {
  Bundle() : scratch(ScratchFolder("gpu_check")), folder(scratch + "/gpu_check") {
    Succeed(
        "python3 " + RepositoryFile("tools/gpu/check.py") + " --pack " + scratch +
        "/check.tar.gz --target host --only '/mlp|outside' --bin $(dirname $(command -v yuba))");
    Succeed("tar xzf " + scratch + "/check.tar.gz -C " + scratch);
  }
  CommandResult Check(const std::string& flags = "") const {
    return RunCommand(folder + "/gpu_check --report " + scratch + "/report " + flags);
  }
  // The case of this name.
  nlohmann::json& Case(nlohmann::json& packed, const std::string& name) const {
    for (nlohmann::json& one : packed["cases"]) {
      if (one["name"] == name) return one;
    }
    FAIL("no case " << name);
    return packed;
  }

  std::string scratch, folder;
};

TEST_CASE("a bundle runs where it was made for, and says what passed") {
  const Bundle bundle;
  const CommandResult ran = bundle.Check();
  INFO(ran.out << ran.error);
  CHECK(ran.exit_code == 0);
  CHECK(ran.out.find("| answer | 13 | 0 | 0 |") != std::string::npos);
  CHECK(ran.out.find("| hash | 4 | 0 | 0 |") != std::string::npos);
  CHECK(ran.out.find("| refused | 4 | 0 | 0 |") != std::string::npos);
  CHECK(ran.out.find("| training | 8 | 0 | 0 |") != std::string::npos);
  const nlohmann::json report = Read(bundle.scratch + "/report/report.json");
  CHECK(report["results"].size() == 29);
  CHECK(report["target"] == "host");
}

TEST_CASE("wrong answers, wrong losses and broken programs fail alone") {
  const Bundle bundle;
  nlohmann::json packed = Read(bundle.folder + "/cases.json");
  bundle.Case(packed, "models/mlp on 2")["run"] = {"--inputs", "DATA", "--check", "0"};
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
  CHECK(ran.out.find("| answer | 8 | 5 | 0 |") != std::string::npos);
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
  const CommandResult ran = bundle.Check("--minutes 0");
  CHECK(ran.exit_code == 1);
  CHECK(ran.out.find("| answer | 0 | 0 | 13 |") != std::string::npos);
}

TEST_CASE("a bundle that cannot be written is refused before anything is compiled") {
  const CommandResult ran = RunCommand("python3 " + RepositoryFile("tools/gpu/check.py") +
                                       " --pack nowhere/check.tar.gz --only /mlp");
  CHECK(ran.exit_code == 2);
  CHECK(ran.error.find("cannot write into") != std::string::npos);
}

}  // namespace
}  // namespace yuba
