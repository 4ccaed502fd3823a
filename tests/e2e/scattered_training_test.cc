// Models that scatter, gather and resize (tests/models/scattered), as PyTorch's exporter writes
// them: its answers, and its losses over eight steps, on any number of devices.
#include <catch2/catch.hpp>
#include <fstream>
#include <string>

#include "nlohmann/json.hpp"
#include "tests/support/command.h"

namespace yuba {
namespace {

std::string Folder() { return RepositoryFile("tests/models/scattered/"); }

TEST_CASE("answers are PyTorch's, whole and cut") {
  std::ifstream stream(Folder() + "losses.json");
  const nlohmann::json models = nlohmann::json::parse(stream);
  CHECK(models.size() == 6);
  for (const auto& [name, losses] : models.items()) {
    const std::string model = Folder() + name + "/model.onnx";
    const std::string inputs = " --inputs " + Folder() + name + "/test_data_set_0";
    const std::string scratch = ScratchFolder("scattered"), plan = scratch + "/p.json";
    for (const char* devices : {"1", "3", "8"}) {
      INFO(name << " on " << devices);
      Succeed("yuba partition " + model + " --devices " + devices + " -o " + plan);
      Succeed("yuba run " + model + " " + plan + inputs + " --expect 1e-5");
    }
    CHECK(Succeed("yuba verify " + model + " " + plan).out.find("bit for bit") !=
          std::string::npos);
  }
}

TEST_CASE("losses are PyTorch's, whole and cut") {
  std::ifstream stream(Folder() + "losses.json");
  const nlohmann::json models = nlohmann::json::parse(stream);
  for (const auto& [name, losses] : models.items()) {
    const std::string model = Folder() + name + "/model.onnx";
    const std::string inputs = " --inputs " + Folder() + name +
                               "/test_data_set_0 --input labels=" + Folder() + name + "/labels.pb";
    const std::string scratch = ScratchFolder("scattered"), plan = scratch + "/p.json";
    for (const char* devices : {"1", "2", "3", "8"}) {
      INFO(name << " on " << devices);
      Succeed("yuba partition " + model + " --devices " + devices +
              " --train sgd --loss softmax-cross-entropy --lr 0.2 -o " + plan);
      const CommandResult ran =
          Succeed("yuba run " + model + " " + plan + inputs + " --steps 8 --json");
      const nlohmann::json figures = nlohmann::json::parse(ran.out)["numbers"]["loss"];
      REQUIRE(figures.size() == losses.size());
      for (size_t step = 0; step < losses.size(); ++step) {
        INFO("step " << step + 1);
        CHECK(figures[step].get<double>() == Approx(losses[step].get<double>()).epsilon(1e-5));
      }
    }
  }
}

}  // namespace
}  // namespace yuba
