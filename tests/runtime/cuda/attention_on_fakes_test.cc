// Attention on fake GPUs: one call of the fake cuDNN forward and one backward stand for its
// kernels, on one device and on several; losses are the host's, and those of the kernels where
// there is no cuDNN.
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

// In bf16 what is not stored is not rounded.
bool AreClose(const std::vector<double>& found, const std::vector<double>& expected) {
  if (found.size() != expected.size() || found.empty()) return false;
  for (size_t i = 0; i < found.size(); ++i) {
    if (std::abs(found[i] - expected[i]) > 2e-3 * std::abs(expected[i])) return false;
  }
  return true;
}

struct Run {
  std::vector<double> losses;
  std::string said;
};

class Training {
 public:
  Training(const std::string& folder, const std::string& model, const std::string& flags)
      : folder_(folder), model_(model + " "), plan_(folder + "/p.json ") {
    Succeed(yuba_ + "partition " + model_ + flags + " --train sgd --lr 0.1 -o " + plan_);
  }

  Run On(const std::string& target, const std::string& environment = "") const {
    const std::string program = folder_ + "/" + target + ".yuba ", log = folder_ + "/log.csv";
    Succeed(yuba_ + "compile " + model_ + plan_ + "--target " + target + " -o " + program);
    const CommandResult ran =
        RunCommand(environment + RepositoryFile("tests/runtime/cuda/yuba-run-on-fakes") + " " +
                   program + "--backend " + target + " --random=3 --steps 3 --log " + log);
    INFO(ran.error);
    CHECK(ran.exit_code == 0);
    const Run run = {LossesOf(log), ran.error};
    Succeed("rm " + log);
    return run;
  }

 private:
  const std::string yuba_ = RepositoryFile("tests/runtime/cuda/yuba-on-fakes") + " ";
  const std::string folder_, model_, plan_;
};

TEST_CASE("attention in training on fake GPUs gives the host's losses, without cuDNN too") {
#ifndef YUBA_WITH_CUDA
  WARN("SKIP: built without CUDA");
  return;
#endif
  const std::string folder = ScratchFolder("attention"), model = folder + "/llama.onnx";
  // In front of the real one, and no library.
  std::ofstream(folder + "/libcudnn.so.9") << "no library";
  Succeed(RepositoryFile("tests/runtime/cuda/yuba-on-fakes") +
          " zoo llama --layers 2 --width 64 --heads 4 --kv-heads 2 --sequence 16 --batch 2 "
          "--vocab 32 --feed-forward 96 -o " +
          model);
  for (const std::string flags : {"--devices 1", "--devices 2", "--devices 4"}) {
    INFO(flags);
    const Training training(folder, model,
                            flags + " --precision bf16 --loss softmax-cross-entropy");
    const Run host = training.On("host"), cuda = training.On("cuda");
    CHECK(AreClose(cuda.losses, host.losses));
    CHECK(cuda.said.find("warning") == std::string::npos);
    const Run without = training.On("cuda", "LD_LIBRARY_PATH=" + folder + " ");
    CHECK(AreClose(without.losses, host.losses));
    CHECK(without.said.find("warning: without cuDNN, instruction ") != std::string::npos);
    CHECK(without.said.find("as products and a softmax") != std::string::npos);
    // The same is computed in other ways.
    CHECK(without.losses != cuda.losses);
  }
}

}  // namespace
}  // namespace yuba
