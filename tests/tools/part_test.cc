// Planning, verifying and running parts of a model: a plan remembers which part it is of.
#include <catch2/catch.hpp>
#include <filesystem>
#include <string>

#include "tests/support/command.h"

namespace yuba {
namespace {

using Catch::Matchers::Contains;

// Between two layers of the model.
constexpr char kBetween[] = "/l.1/Gemm_output_0";

std::string Model() { return RepositoryFile("tests/models/mlp/model.onnx"); }

TEST_CASE("what the two parts of a model compute, one behind the other, is what it computes") {
  const std::string folder = ScratchFolder("parts");
  const std::string front = folder + "/front.json", back = folder + "/back.json";
  const std::string data = RepositoryFile("tests/models/mlp/test_data_set_0");
  Succeed("yuba partition " + Model() + " --to-tensors " + kBetween + " -o " + front);
  Succeed("yuba partition " + Model() + " --from-tensors " + kBetween + " -o " + back);
  for (const std::string& plan : {front, back}) {
    Succeed("yuba check " + Model() + " " + plan);
    Succeed("yuba verify " + Model() + " " + plan);
  }
  Succeed("yuba run " + Model() + " " + front + " --inputs " + data + " --outputs " + folder +
          "/middle");
  // Inputs keep the file's numbers: the cut stands behind x.
  std::filesystem::create_directory(folder + "/rest");
  std::filesystem::copy_file(folder + "/middle/output_0.npy", folder + "/rest/input_1.npy");
  std::filesystem::copy_file(data + "/output_0.pb", folder + "/rest/output_0.pb");
  const CommandResult run =
      Succeed("yuba run " + Model() + " " + back + " --inputs " + folder + "/rest --expect 1e-5");
  CHECK_THAT(run.out, Contains("ok   y: "));
}

TEST_CASE("info, compare and compile take a part") {
  const std::string folder = ScratchFolder("commands");
  const std::string part = Model() + " --to-tensors " + kBetween;
  CHECK_THAT(Succeed("yuba info " + part).out,
             Contains(std::string("outputs     ") + kBetween + ": f32[12, 64]"));
  CHECK_THAT(Succeed("yuba compare " + part + " --devices 2").out, Contains("default"));
  Succeed("yuba partition " + part + " -o " + folder + "/plan.json");
  Succeed("yuba compile " + Model() + " " + folder + "/plan.json -o " + folder + "/part.yuba");
  CHECK_THAT(Succeed("yuba-run " + folder + "/part.yuba --random").out, Contains("step 1"));
  CHECK(RunCommand("yuba info " + Model() + " --to-tensors nothing").exit_code == 2);
}

}  // namespace
}  // namespace yuba
