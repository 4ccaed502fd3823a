// Plans for a machine, from the command line: made, checked, and refused where they are not true.
#include <catch2/catch.hpp>
#include <fstream>
#include <string>

#include "nlohmann/json.hpp"
#include "opsemantics/base/files.h"
#include "tests/support/command.h"

namespace yuba::tools {
namespace {

std::string Model() { return RepositoryFile("tests/models/mlp/model.onnx"); }

// The text of the plan that these flags make; the plan itself goes to `path`.
std::string PlanWith(const std::string& flags, const std::string& path) {
  const CommandResult made =
      RunCommand("yuba partition " + Model() + " " + flags + " --quiet -o " + path);
  INFO(made.error);
  REQUIRE(made.exit_code == 0);
  return ReadFile(path).value();
}

CommandResult CheckOf(const nlohmann::json& plan, const std::string& path) {
  std::ofstream(path) << plan.dump();
  return RunCommand("yuba check " + Model() + " " + path);
}

TEST_CASE("a plan for a machine is of least time, keeps the machine, and is checked with it") {
  const std::string path = ScratchFolder("machine") + "/p.json";
  for (const char* machine : {"hgx-h100", "hgx-h100:2", "p2.8xlarge"}) {
    INFO(machine);
    const std::string text = PlanWith(std::string("--machine ") + machine, path);
    CHECK(text == PlanWith(std::string("--machine ") + machine, path));
    const nlohmann::json plan = nlohmann::json::parse(text);
    CHECK(plan["space"]["objective"] == "time");
    CHECK(plan["machine"]["name"] == machine);
    const CommandResult checked = RunCommand("yuba check " + Model() + " " + path);
    INFO(checked.out << checked.error);
    CHECK(checked.exit_code == 0);
    CHECK(checked.out.find("takes less than") != std::string::npos);
    const nlohmann::json bytes = nlohmann::json::parse(
        PlanWith(std::string("--objective bytes --machine ") + machine, path));
    const auto time = [](const nlohmann::json& of) {
      return of["cost"]["nanoseconds"]["exchanges"].get<int64_t>() +
             of["cost"]["nanoseconds"]["kernels"].get<int64_t>();
    };
    CHECK(time(plan) <= time(bytes));
    CHECK(bytes["cost"]["bytes"] <= plan["cost"]["bytes"]);
  }
}

TEST_CASE("times, bounds and constants of a plan file that are not true are refused") {
  const std::string path = ScratchFolder("machine") + "/q.json";
  const nlohmann::json plan = nlohmann::json::parse(PlanWith("--machine hgx-h100", path));
  nlohmann::json bent = plan;
  bent["cost"]["nanoseconds"]["exchanges"] =
      plan["cost"]["nanoseconds"]["exchanges"].get<int>() - 1;
  CHECK(CheckOf(bent, path).error.find("exchanges take") != std::string::npos);
  bent = plan;
  bent["cost"]["lower_bound"] = plan["cost"]["lower_bound"].get<int64_t>() + 1;
  CHECK(CheckOf(bent, path).error.find("lower bound") != std::string::npos);
  bent = plan;
  bent["machine"]["file"]["links"][0]["bandwidth"]["value"] = 1e15;
  CHECK(CheckOf(bent, path).error.find("machine.hash") != std::string::npos);
  bent = plan;
  bent.erase("machine");
  CHECK(CheckOf(bent, path).error.find("names no machine") != std::string::npos);
  for (const nlohmann::json& kind : {nlohmann::json(1), nlohmann::json(11)}) {
    bent = plan;
    bent["mesh"][0]["kind"] = kind;
    const CommandResult checked = CheckOf(bent, path);
    INFO(checked.error);
    CHECK(checked.exit_code == 2);
    CHECK(checked.error.find("mesh") != std::string::npos);
  }
}

TEST_CASE("what no machine has is refused by name") {
  const std::pair<const char*, const char*> refused[] = {
      {"--objective time", "--machine"},
      {"--machine none-such", "there is no machine none-such"},
      {"--machine hgx-h100 --devices 9", "hgx-h100"},
      {"--machine hgx-h100:2 --devices 12", "hgx-h100:2"},
      {"--machine hgx-h100 --mesh a=4,b=4", "--mesh"},
      {"--machine hgx-h100:0", "nodes"}};
  for (const auto& [flags, words] : refused) {
    const CommandResult result = RunCommand("yuba partition " + Model() + " " + flags + " -o " +
                                            ScratchFolder("machine") + "/none.json");
    INFO(flags << ": " << result.error);
    CHECK(result.exit_code == 2);
    CHECK(result.error.find(words) != std::string::npos);
  }
}

}  // namespace
}  // namespace yuba::tools
