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
  for (const char* machine : {"hgx-h100", "hgx-h100@libraries:2", "p2.8xlarge"}) {
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
    const auto of = [&](const std::string& flags) {
      return nlohmann::json::parse(PlanWith(flags + " --machine " + machine, path));
    };
    const auto time = [](const nlohmann::json& planned) {
      return planned["cost"]["nanoseconds"]["exchanges"].get<int64_t>() +
             planned["cost"]["nanoseconds"]["kernels"].get<int64_t>();
    };
    const nlohmann::json least = of("--without scheduled --replicate none"),
                         bytes = of("--objective bytes");
    CHECK(time(least) <= time(bytes));
    CHECK(bytes["cost"]["bytes"] <= least["cost"]["bytes"]);
  }
}

TEST_CASE("where the default search takes a baseline's plan, file and check say both") {
  const std::string path = ScratchFolder("machine") + "/b.json";
  std::string less;  // so that a baseline is best
  for (const char* engine :
       {"prices", "rows", "local", "axes", "plain", "replicating", "grids", "levels"})
    less += std::string(" --without ") + engine;
  nlohmann::json plan = nlohmann::json::parse(PlanWith("--machine hgx-h100:2" + less, path));
  CHECK(plan["search"] == "data");
  CHECK(plan["options"]["search"] == "default");
  const CommandResult checked = CheckOf(plan, path);
  INFO(checked.out << checked.error);
  CHECK(checked.exit_code == 0);
  plan["options"]["search"] = "zero3";
  CHECK(CheckOf(plan, path).exit_code == 1);
}

TEST_CASE("a search that counts bytes is not asked for time") {
  const std::string path = ScratchFolder("machine") + "/refused.json";
  for (const char* search : {"megatron", "recursive"}) {
    const CommandResult result =
        RunCommand("yuba partition " + Model() + " --machine hgx-h100 --objective time --search " +
                   search + " -o " + path);
    INFO(result.error);
    CHECK(result.exit_code == 2);
    CHECK(result.error.find("counts bytes") != std::string::npos);
  }
}

TEST_CASE("with a machine plans may replicate, keep to its memory, and say their predicted step") {
  const std::string path = ScratchFolder("machine") + "/r.json";
  const auto of = [&](const std::string& flags) {
    return nlohmann::json::parse(
        PlanWith("--machine hgx-h100 --train sgd --loss mse " + flags, path));
  };
  const nlohmann::json plan = of("");
  CHECK(plan["space"]["replicate"] == "auto");
  CHECK(plan["space"]["memory"] == 85520809984 - 1500000000);  // of machines/hgx-h100.json
  CHECK(plan["machine"]["found"] == false);
  const auto step = [](const nlohmann::json& planned) {
    REQUIRE(planned["predicted"].size() == 1);
    const nlohmann::json& run = planned["predicted"][0];
    CHECK(run["fast"] <= run["ordered"]);
    CHECK(run["kernels"] <= run["step"]);
    return run["step"].get<int64_t>();
  };
  CHECK(step(plan) > 0);
  for (const char* baseline : {"data", "zero3", "megatron", "all-row", "equal-chop"}) {
    INFO(baseline);
    CHECK(step(plan) <= step(of(std::string("--search ") + baseline)));
  }
  const nlohmann::json split = of("--replicate none --memory none");
  CHECK(split["space"]["replicate"] == "none");
  CHECK(split["space"]["memory"] == 0);
}

TEST_CASE("a model that no device of the machine holds is refused, and planned without the limit") {
  const std::string path = ScratchFolder("machine") + "/s.json",
                    file = ScratchFolder("machine") + "/small.json";
  nlohmann::json small =
      nlohmann::json::parse(ReadFile(RepositoryFile("machines/hgx-h100.json")).value());
  small["device"]["memory"]["value"] = 30'000;
  small["device"]["reserved"]["value"] = 29'000;
  std::ofstream(file) << small.dump();
  const std::string command = "yuba partition " + Model() + " --machine " + file + " -o " + path;
  const CommandResult refused = RunCommand(command);
  CHECK(refused.exit_code == 1);
  CHECK(refused.error.find("--memory none") != std::string::npos);
  CHECK(refused.error.find("1.0 kB") != std::string::npos);
  CHECK(RunCommand(command + " --memory none").exit_code == 0);
}

TEST_CASE("times, bounds and constants of a plan file that are not true are refused") {
  const std::string path = ScratchFolder("machine") + "/q.json";
  const nlohmann::json plan = nlohmann::json::parse(
      PlanWith("--machine hgx-h100 --replicate none --without scheduled", path));
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
      {"--machine hgx-h100@zork", "no set of kernels \"zork\": it has libraries"},
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
