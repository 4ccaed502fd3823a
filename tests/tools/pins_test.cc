// Pins on the command line: each is met, priced and written into the plan, or refused with the
// cause and the way out.
#include <catch2/catch.hpp>
#include <fstream>

#include "nlohmann/json.hpp"
#include "opsemantics/base/module_name.h"
#include "tests/support/command.h"

namespace yuba::tools {
namespace {

std::string ModelFile(const std::string& name) {
  return RepositoryFile("tests/models/" + name + "/model.onnx");
}

TEST_CASE("pins are met, priced and kept; what cannot be is refused with its cause") {
  const std::string model = ModelFile("mlp"), plan = ScratchFolder("pins") + "/plan.json";
  const std::string command = "yuba partition " + model + " --mesh data=2,model=4 -o " + plan;
  const std::string text = Succeed(command + " --pin batch=data --pin 'l.1.weight=[model, -]'").out;
  INFO(text);
  CHECK(text.find("batch=data costs") != std::string::npos);
  CHECK(text.find("l.1.weight=[model, -] costs") != std::string::npos);
  CHECK(text.find("together they cost ") != std::string::npos);
  CHECK(text.find(", pinned; lower bound equal, proof: elimination") != std::string::npos);
  const std::string shown = Succeed("yuba show " + plan).out;
  CHECK(shown.find("\npins: batch=data, l.1.weight=[model, -]; together they cost ") !=
        std::string::npos);
  std::ifstream file(plan);
  const nlohmann::json json = nlohmann::json::parse(file);
  CHECK(json["options"]["pin.0"] == "batch=data");
  CHECK(json["cost"]["without_pins"]["bytes"] >= json["cost"]["without_pins"]["lower_bound"]);
  for (const nlohmann::json& tensor : json["tensors"]) {
    if (tensor["name"] == "x")
      CHECK(tensor["dims"][0][0]["axes"].dump().find("data") != std::string::npos);
    if (tensor["name"] == "l.1.weight") CHECK(tensor["dims"][1][0]["axes"].empty());
  }
  Succeed("yuba check " + model + " " + plan);
  CHECK(Succeed(command).out.find("PINS") == std::string::npos);
  auto refused = [&](const std::string& pins, const std::string& words) {
    const CommandResult result = RunCommand(command + " " + pins);
    INFO(pins);
    INFO(result.error);
    CHECK(result.exit_code == 2);
    CHECK(result.error.find(words) != std::string::npos);
  };
  refused("--pin nothing=[-]", "no tensor is called 'nothing'");
  refused("--pin 'l.1.weight=[model]'", "has 2 dimensions");
  refused("--pin 'l.1.weight=[-, -]'", "axis data is left out");
  refused("--pin 'l.1.weight=[rows, -]'", "no mesh axis is called 'rows'");
  refused("--pin 'l.1.weight=[model, -' ", "']' is missing");
  refused("--pin 'x=[model, -]' --pin batch=data", "contradict");
  refused("--pin 'l.1.weight=[65/model, -]'", "65");
  refused("--pin time=data", "no dimension is called 'time'; there is batch; for a tensor");
  refused("--pin batch", "expected NAME=");
  refused("--search megatron --pin batch=data", "takes no pins");
}

std::string AxesOf(const nlohmann::json& plan, const std::string& name, int dim) {
  std::string axes;
  for (const nlohmann::json& tensor : plan["tensors"]) {
    if (NameAlone(tensor["name"].get<std::string>()) != name) continue;  // behind its module
    for (const nlohmann::json& factor : tensor["dims"][dim]) axes += factor["axes"].dump();
  }
  return axes;
}

// The decoder calls its inputs' dimensions batch and sequence.
TEST_CASE("a dimension that the model names is pinned, in what it becomes too") {
  const std::string model = ModelFile("modern/decoder_opset18"), folder = ScratchFolder("named"),
                    plan = folder + "/plan.json",
                    command = "yuba partition " + model + " --dim batch=4 --dim sequence=16 " +
                              "--search recursive --space factored,copies=none " +
                              "--mesh data=2,model=4 -o " + plan;
  const auto holds = [&](const std::string& flags) {
    INFO(flags);
    const std::string text = Succeed(command + flags + " --pin sequence=model").out;
    INFO(text);
    CHECK(text.find("sequence=model costs") != std::string::npos);
    std::ifstream file(plan);
    const nlohmann::json json = nlohmann::json::parse(file);
    CHECK(json["options"]["pin.0"] == "sequence=model");
    for (const std::string tensor : {"input_ids", "embedding", "linear", "logits"}) {
      INFO(tensor);
      CHECK(AxesOf(json, tensor, 1).find("model.0\",\"model.1") != std::string::npos);
    }
    Succeed("yuba check " + model + " " + plan);
    Succeed("yuba show " + plan);
  };
  holds("");
  holds(" --dump " + folder + "/dump --to search");
  const CommandResult unknown = RunCommand(command + " --pin tokens=model");
  CHECK(unknown.exit_code == 2);
  CHECK(unknown.error.find("no dimension is called 'tokens'; there are batch, sequence; for") !=
        std::string::npos);
}

// The model fits into 9 kB a device, but not with the rows of its weights cut over an axis.
TEST_CASE("where nothing fits under pins, those in the way are named, with what fits without") {
  const std::string command = "yuba partition " + ModelFile("mlp") + " --mesh data=2,model=4 -o " +
                              ScratchFolder("limited") + "/plan.json";
  const std::string rows0 = " --pin 'l.0.weight=[model, -]'",
                    rows1 = " --pin 'l.1.weight=[model, -]'",
                    columns = " --pin 'l.0.weight=[-, data model]'", batch = " --pin batch=data",
                    fits = " a plan fits that needs 8960 bytes a device";
  Succeed(command + " --memory 9kB" + batch);
  auto refused = [&](const std::string& flags, const std::string& words) {
    const CommandResult result = RunCommand(command + flags);
    INFO(flags << ": " << result.error);
    CHECK(result.exit_code == 1);
    CHECK(result.error.find(words) != std::string::npos);
    CHECK(result.error.find("no plan within") != std::string::npos);
  };
  refused(" --memory 9kB --pin 'l.*weight=[model, -]'",
          ": --pin 'l.*weight=[model, -]' is in the way: without it" + fits + ". With it: no plan");
  refused(" --memory 9kB" + columns + batch,
          ": a pin is in the way: without" + columns + fits + ". With all pins: no plan");
  refused(" --memory 9kB --space flat" + rows0 + rows1,
          ": pins are in the way, and to leave out one is not enough: without" + rows0 + "," +
              rows1 + fits);
  refused(
      " --memory 5kB" + columns + batch,
      ". Nothing fits without" + columns + ", --pin 'batch=data' either: the smallest of those");
}

}  // namespace
}  // namespace yuba::tools
