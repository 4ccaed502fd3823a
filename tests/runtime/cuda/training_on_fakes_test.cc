// Training of a model with convolutions and products on fake GPUs: through the fakes of cuBLASLt
// and cuDNN, and without these libraries as generated code, losses are the host's.
#include <catch2/catch.hpp>
#include <cmath>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "tests/support/command.h"

namespace yuba {
namespace {

// Losses of the steps that a log has.
std::vector<double> LossesOf(const std::string& log) {
  std::ifstream file(log);
  std::vector<double> losses;
  std::string line;
  std::getline(file, line);
  while (std::getline(file, line)) {
    std::istringstream fields(line);
    std::string entry, step, loss;
    std::getline(fields, entry, ',');
    std::getline(fields, step, ',');
    std::getline(fields, loss, ',');
    losses.push_back(std::stod(loss));
  }
  return losses;
}

bool AreClose(const std::vector<double>& found, const std::vector<double>& expected) {
  if (found.size() != expected.size() || found.empty()) return false;
  for (size_t i = 0; i < found.size(); ++i) {
    if (std::abs(found[i] - expected[i]) > 1e-5 * std::abs(expected[i])) return false;
  }
  return true;
}

TEST_CASE(
    "training with convolutions on fake GPUs gives the host's losses, without libraries too") {
#ifndef YUBA_WITH_CUDA
  WARN("SKIP: built without CUDA");
  return;
#endif
  const std::string folder = ScratchFolder("training"), here = "tests/runtime/cuda/";
  const std::string yuba = RepositoryFile(here + "yuba-on-fakes") + " ";
  const std::string model = RepositoryFile("tests/models/conv/model.onnx") + " ";
  // In front of the real ones, and no libraries.
  for (const char* name : {"libcublasLt.so.13", "libcublasLt.so.12", "libcudnn.so.9"})
    std::ofstream(folder + "/" + name) << "no library";
  for (const std::string precision : {"f32", "bf16"}) {
    INFO(precision);
    const std::string plan = folder + "/p.json ", log = folder + "/log.csv";
    Succeed(yuba + "partition " + model +
            "--devices 3 --train sgd --loss mse --lr 0.01 --precision " + precision + " -o " +
            plan);
    const auto losses = [&](const std::string& target, const std::string& environment,
                            std::string& said) {
      const std::string program = folder + "/" + target + ".yuba ";
      Succeed(yuba + "compile " + model + plan + "--target " + target + " -o " + program);
      const CommandResult ran =
          RunCommand(environment + RepositoryFile(here + "yuba-run-on-fakes") + " " + program +
                     "--backend " + target + " --random=3 --steps 3 --log " + log);
      INFO(ran.error);
      CHECK(ran.exit_code == 0);
      said = ran.error;
      const std::vector<double> found = LossesOf(log);
      Succeed("rm " + log);
      return found;
    };
    std::string said;
    const std::vector<double> expected = losses("host", "", said);
    CHECK(AreClose(losses("cuda", "", said), expected));
    CHECK(said.find("warning") == std::string::npos);
    CHECK(AreClose(losses("cuda", "LD_LIBRARY_PATH=" + folder + " ", said), expected));
    CHECK(said.find("warning: without cuBLAS, instruction ") != std::string::npos);
    CHECK(said.find("warning: without cuDNN, instruction ") != std::string::npos);
    CHECK(said.find("libcudnn.so.9: file too short") != std::string::npos);
  }
}

}  // namespace
}  // namespace yuba
