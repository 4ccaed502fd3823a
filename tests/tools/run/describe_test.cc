// `yuba-run --describe`: what is in a program's file, for who has got it alone.
#include <catch2/catch.hpp>
#include <string>

#include "nlohmann/json.hpp"
#include "tests/support/command.h"

namespace yuba {
namespace {

bool Has(const std::string& text, const std::string& part) {
  INFO(text << "\nhas: " << part);
  CHECK(text.find(part) != std::string::npos);
  return true;
}

TEST_CASE("a program says for what it is and what it needs") {
  const std::string folder = ScratchFolder("describe");
  const std::string model = RepositoryFile("tests/models/mlp/model.onnx");
  const std::string plan = folder + "/p.json", program = folder + "/p.yuba";
  Succeed("yuba partition " + model + " --devices 8 -o " + plan);
  const auto made = nlohmann::json::parse(
      Succeed("yuba compile " + model + " " + plan + " --json -o " + program).out);
  const std::string text = Succeed("yuba-run --describe " + program).out;
  Has(text, "devices     8 as mesh a=2 b=2 c=2\n");
  Has(text, "entries     step: ");
  Has(text, "inputs      x: f32[12, 48]\n");
  Has(text, "outputs     y: f32[12, 10]\n");
  Has(text, "needs       a processor of the level x86-64-v3");
  Has(text, "oneDNN: ");
  CHECK(text.find("the file ") == std::string::npos);
  const auto json = nlohmann::json::parse(Succeed("yuba-run --describe --json " + program).out);
  CHECK(json["devices"] == 8);
  for (const auto& report : {made, json}) {
    CHECK(report["target"] == "host");
    CHECK(report["processor"] == "x86-64-v3");
  }
  CHECK(json["inputs"][0]["type"] == "f32[12, 48]");
  CHECK(json["arena_bytes"].get<int64_t>() > 0);
  CHECK(json["parameters"]["without_value"].empty());

  Succeed("yuba compile " + model + " " + plan + " --no-library -o " + program);
  CHECK(Succeed("yuba-run --describe " + program).out.find("oneDNN") == std::string::npos);
  CHECK(RunCommand("yuba-run --describe " + plan).exit_code == 2);

  const std::string compile = "yuba compile " + model + " " + plan + " -o " + program;
  Succeed(compile + " --target cuda --tf32");
  Has(Succeed("yuba-run --describe " + program).out, "cuBLAS: ");
  const CommandResult refused = RunCommand(compile + " --tf32");
  CHECK(refused.exit_code == 2);
  Has(refused.error, "--tf32 is for GPUs: the target host has no TF32");
}

TEST_CASE("how many buffers are not row-major is described") {
  const std::string folder = ScratchFolder("describe_layouts");
  const std::string model = RepositoryFile("tests/models/conv/model.onnx");
  const std::string plan = folder + "/p.json", program = folder + "/p.yuba";
  Succeed("yuba partition " + model + " --devices 2 -o " + plan);
  const std::string compile = "yuba compile " + model + " " + plan + " -o " + program;
  Succeed(compile);
  CHECK(Succeed("yuba-run --describe " + program).out.find("layouts") == std::string::npos);
  Succeed(compile + " --layouts channels-last");
  Has(Succeed("yuba-run --describe " + program).out, " buffers not row-major\n");
  const auto json = nlohmann::json::parse(Succeed("yuba-run --describe --json " + program).out);
  CHECK(json["buffers_not_row_major"].get<int64_t>() > 0);
  const CommandResult refused = RunCommand(compile + " --layouts nhwc");
  CHECK(refused.exit_code == 2);
  Has(refused.error, "--layouts");
}

TEST_CASE("a program's entries, and files that hold its values, are described") {
  const std::string folder = ScratchFolder("describe_training");
  const std::string model = RepositoryFile("tests/models/mlp/model_external.onnx");
  const std::string plan = folder + "/p.json", program = folder + "/p.yuba";
  Succeed("yuba partition " + model + " --train adam --loss softmax-cross-entropy --lr 0.1 " +
          "--devices 3 --eval-entry 10 -o " + plan);
  Succeed("yuba compile " + model + " " + plan + " --values reference -o " + program);
  const std::string text = Succeed("yuba-run --describe " + program).out;
  Has(text, "eval: ");
  Has(text, ", planned to run 10 times\n");
  Has(text, "the file ");
  Has(text, "model_external.data of ");
}

}  // namespace
}  // namespace yuba
