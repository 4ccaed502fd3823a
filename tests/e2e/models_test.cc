// The main job as a user does it: plan, check, verify and run real models on many device counts,
// and compare with PyTorch's answers. `yuba run` itself refuses a run whose bytes are not the
// plan's.
#include <algorithm>
#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "tests/support/command.h"
#include "tests/support/part.h"

namespace yuba {
namespace {

void PlanAndRun(const std::string& name) {
  const std::string model = RepositoryFile("tests/models/" + name + "/model.onnx");
  const std::string data = RepositoryFile("tests/models/" + name + "/test_data_set_0");
  const std::string folder = ScratchFolder("run_" + name);
  const std::vector<int> few = {1, 3, 7, 8, 12}, all = {1, 2, 3, 5, 6, 7, 8, 12};
  for (const int devices : TriesAll() ? all : few) {
    const std::string plan = folder + "/" + std::to_string(devices) + ".json";
    Succeed("yuba partition " + model + " --devices " + std::to_string(devices) + " -o " + plan);
    Succeed("yuba check " + model + " " + plan);
    Succeed("yuba verify " + model + " " + plan);
    Succeed("yuba run " + model + " " + plan + " --inputs " + data + " --expect 1e-3");
  }
}

TEST_CASE("mlp gives PyTorch's answers on every device count") { PlanAndRun("mlp"); }
TEST_CASE("conv gives PyTorch's answers on every device count") { PlanAndRun("conv"); }
TEST_CASE("lstm gives PyTorch's answers on every device count") { PlanAndRun("lstm"); }
TEST_CASE("encoder gives PyTorch's answers on every device count") { PlanAndRun("encoder"); }
TEST_CASE("gpt gives PyTorch's answers on every device count") { PlanAndRun("gpt"); }
TEST_CASE("moe gives NumPy's answers on every device count") { PlanAndRun("moe"); }

TEST_CASE("mixtures of experts are compiled for GPUs too") {
  const std::string model = RepositoryFile("tests/models/moe/model.onnx");
  const std::string folder = ScratchFolder("gpu");
  Succeed("yuba partition " + model + " --devices 2 -o " + folder + "/p.json");
  Succeed("yuba compile " + model + " " + folder + "/p.json --target cuda -o " + folder +
          "/m.yuba");
}

TEST_CASE("a spoiled expected output makes --expect exit with 1") {
  const std::string model = RepositoryFile("tests/models/mlp/model.onnx");
  const std::string folder = ScratchFolder("spoiled");
  const std::string data = folder + "/data";
  std::filesystem::copy(RepositoryFile("tests/models/mlp/test_data_set_0"), data);
  Succeed("yuba partition " + model + " --devices 3 -o " + folder + "/p.json");
  const std::string run =
      "yuba run " + model + " " + folder + "/p.json --expect 1e-3 --inputs " + data;
  Succeed(run);
  const std::string expected = data + "/output_0.pb";
  std::filesystem::permissions(expected, std::filesystem::perms::owner_all);
  std::fstream file(expected, std::ios::in | std::ios::out | std::ios::binary);
  file.seekp(-2, std::ios::end);  // the exponent of the last element
  file.put('\x45');
  file.close();
  CHECK(RunCommand(run).exit_code == 1);
}

TEST_CASE("one device moves nothing, and the same input gives the same plan") {
  const std::string model = RepositoryFile("tests/models/conv/model.onnx");
  const std::string folder = ScratchFolder("same");
  for (const char* name : {"a", "b"}) {
    Succeed("yuba partition " + model + " --devices 6 -o " + folder + "/" + name + ".json");
  }
  Succeed("cmp " + folder + "/a.json " + folder + "/b.json");
  const CommandResult one =
      Succeed("yuba partition " + model + " --devices 1 -o " + folder + "/1.json");
  CHECK(one.out.find("MOVED a step   0 B") != std::string::npos);
}

// What the README shows after "$ command", up to the next command, "..." or the end of the block.
std::string Shown(const std::string& readme, const std::string& command) {
  const size_t begin = readme.find("$ " + command);
  REQUIRE(begin != std::string::npos);
  const size_t line = readme.find('\n', begin) + 1;
  size_t end = readme.size();
  for (const char* stop : {"\n...", "\n$ ", "\n```"}) end = std::min(end, readme.find(stop, line));
  return readme.substr(line, end - line);
}

TEST_CASE("the README's example prints what the README says") {
  std::ifstream file(RepositoryFile("README.md"));
  const std::string readme(std::istreambuf_iterator<char>(file), {});
  const std::string model = RepositoryFile("tests/models/mlp/model.onnx");
  const std::string plan = ScratchFolder("readme") + "/mlp.plan.json";
  Succeed("yuba partition " + model + " --devices 8 -o " + plan);
  CHECK(Succeed("yuba show " + plan).out.find(Shown(readme, "yuba show")) == 0);
  CHECK(Succeed("yuba verify " + model + " " + plan).out.find(Shown(readme, "yuba verify")) == 0);
}

TEST_CASE("compiled programs run without the compiler, and hand their outputs on") {
  const std::string model = RepositoryFile("tests/models/mlp/model.onnx");
  const std::string data = RepositoryFile("tests/models/mlp/test_data_set_0");
  const std::string folder = ScratchFolder("compiled");
  Succeed("yuba partition " + model + " --devices 5 -o " + folder + "/p.json");
  Succeed("yuba compile " + model + " " + folder + "/p.json -o " + folder + "/m.yuba");
  Succeed("yuba-run " + folder + "/m.yuba --inputs " + data + " --expect 1e-3 --outputs " + folder +
          "/out");
  CHECK_FALSE(std::filesystem::is_empty(folder + "/out"));
}

}  // namespace
}  // namespace yuba
