// `yuba why`: what it costs to cut a tensor or a node otherwise.
#include <catch2/catch.hpp>
#include <fstream>

#include "nlohmann/json.hpp"
#include "tests/support/command.h"

namespace yuba::tools {
namespace {

struct Planned {
  std::string model, plan;
  nlohmann::json file;
};

Planned PlanWith(const std::string& name, const std::string& model, const std::string& flags) {
  Planned planned = {model, ScratchFolder("why_" + name) + "/p.json", {}};
  Succeed("yuba partition " + model + " " + flags + " --quiet -o " + planned.plan);
  std::ifstream file(planned.plan);
  planned.file = nlohmann::json::parse(file);
  return planned;
}

nlohmann::json Why(const Planned& planned, const std::string& of) {
  return nlohmann::json::parse(
      Succeed("yuba why " + planned.model + " " + planned.plan + of + " --json").out);
}

std::string Mlp() { return RepositoryFile("tests/models/mlp/model.onnx"); }

TEST_CASE("of a baseline's plan a cheaper runner-up is no surprise, and why says so") {
  const Planned planned = PlanWith("row", Mlp(), "--devices 4 --search all-row");
  const std::string weight = "l.0.weight";
  const CommandResult result =
      Succeed("yuba why " + planned.model + " " + planned.plan + " --tensor " + weight);
  INFO(result.out);
  CHECK(result.out.find("the plan is that of all-row, not the one that moves least") !=
        std::string::npos);
}

TEST_CASE("the runner-up costs what a search costs that is held to it") {
  const Planned planned = PlanWith("mlp", Mlp(), "--devices 4");
  int dearer = 0;
  for (const nlohmann::json& tensor : planned.file["tensors"]) {
    if (tensor["kind"] != "weight") continue;
    const std::string name = tensor["name"];
    INFO(name);
    const CommandResult result =
        RunCommand("yuba why " + planned.model + " " + planned.plan + " --json --tensor " + name);
    if (result.exit_code != 0) {
      CHECK(result.out.find("cannot be cut otherwise") != std::string::npos);
      continue;
    }
    const nlohmann::json why = nlohmann::json::parse(result.out);
    CHECK(why["proved"] == true);
    CHECK(why["more_bytes"] >= 0);
    CHECK(why["is"] != why["next"]);
    int64_t sum = 0;
    for (const nlohmann::json& row : why["differences"]) sum += row["more_bytes"].get<int64_t>();
    CHECK(sum == why["more_bytes"]);
    // A plan that is pinned to the runner-up's sharding moves as much: none with it moves less.
    const std::string next = why["next"];
    const Planned pinned =
        PlanWith("pinned", Mlp(), "--devices 4 --pin '" + name + "=" + next + "'");
    CHECK(pinned.file["cost"]["bytes"] ==
          planned.file["cost"]["bytes"].get<int64_t>() + why["more_bytes"].get<int64_t>());
    dearer += why["more_bytes"] > 0;
  }
  CHECK(dearer > 0);
}

TEST_CASE("on many devices the runner-up is found from the plan on, and is said to be a bound") {
  const std::string model = ScratchFolder("why_many") + "/gpt.onnx";
  Succeed("yuba zoo gpt --layers 1 --width 64 --heads 8 --sequence 64 --vocab 128 --batch 64 -o " +
          model);
  const Planned planned =
      PlanWith("gpt", model, "--devices 64 --train sgd --loss softmax-cross-entropy");
  const std::string of = " --tensor h.0.mlp.c_fc.weight";
  const nlohmann::json why = Why(planned, of);
  CHECK(why["proved"] == false);
  CHECK(why["is"] != why["next"]);
  const std::string text = Succeed("yuba why " + planned.model + " " + planned.plan + of).out;
  CHECK(text.find("an upper bound") != std::string::npos);
  CHECK(text.find("the next best found is") != std::string::npos);
}

TEST_CASE("with a machine the price is told in time, too") {
  const Planned planned = PlanWith("timed", Mlp(), "--devices 4 --machine hgx-h100");
  for (const nlohmann::json& node : planned.file["nodes"]) {
    const nlohmann::json why = Why(planned, " --node " + node["name"].get<std::string>());
    CHECK(why["more_nanoseconds"] >= 0);
    break;
  }
}

TEST_CASE("why refuses what it cannot answer") {
  const Planned planned = PlanWith("bad", Mlp(), "--devices 4");
  const std::string line = "yuba why " + planned.model + " " + planned.plan;
  for (const auto& [flags, words] : {std::pair("", "give --tensor NAME or --node NAME"),
                                     std::pair(" --tensor nothing.here", "none of that name"),
                                     std::pair(" --tensor a --node b", "excludes")}) {
    const CommandResult result = RunCommand(line + flags);
    INFO(result.error);
    CHECK(result.exit_code == 2);
    CHECK(result.error.find(words) != std::string::npos);
  }
}

}  // namespace
}  // namespace yuba::tools
