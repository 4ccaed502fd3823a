// Training of models with convolutions and products on fake GPUs: through the fakes of cuBLASLt and
// cuDNN, and without these libraries as generated code, losses are the host's.
#include <catch2/catch.hpp>
#include <cmath>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "runtime/program/program.h"
#include "tests/support/command.h"
#include "tests/support/status_matchers.h"

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

// The fakes' tools, and a model that trains with a plan.
struct Training {
  std::string folder, model, plan;
  std::string yuba = RepositoryFile("tests/runtime/cuda/yuba-on-fakes") + " ";
  std::string run = RepositoryFile("tests/runtime/cuda/yuba-run-on-fakes") + " ";

  // An environment with nothing in place of the real libraries.
  std::string WithoutLibraries() const {
    for (const char* name : {"libcublasLt.so.13", "libcublasLt.so.12", "libcudnn.so.9"})
      std::ofstream(folder + "/" + name) << "no library";
    return "LD_LIBRARY_PATH=" + folder + " ";
  }

  std::string Program(const std::string& target) const { return folder + "/" + target + ".yuba"; }

  void Compile(const std::string& target, const std::string& flags = "") const {
    Succeed(yuba + "compile " + model + plan + flags + "--target " + target + " -o " +
            Program(target));
  }

  // Of three steps of the compiled program; `said` is what it writes to stderr.
  std::vector<double> Losses(const std::string& target, const std::string& environment,
                             std::string& said) const {
    const std::string log = folder + "/log.csv";
    const CommandResult ran = RunCommand(environment + run + Program(target) + " --backend " +
                                         target + " --random=3 --steps 3 --log " + log);
    INFO(ran.error);
    CHECK(ran.exit_code == 0);
    said = ran.error;
    const std::vector<double> found = LossesOf(log);
    Succeed("rm " + log);
    return found;
  }
};

TEST_CASE(
    "training with convolutions on fake GPUs gives the host's losses, without libraries too") {
#ifndef YUBA_WITH_CUDA
  WARN("SKIP: built without CUDA");
  return;
#endif
  Training training;
  training.folder = ScratchFolder("training");
  training.model = RepositoryFile("tests/models/conv/model.onnx") + " ";
  training.plan = training.folder + "/p.json ";
  for (const std::string precision : {"f32", "bf16"}) {
    INFO(precision);
    Succeed(training.yuba + "partition " + training.model +
            "--devices 3 --train sgd --loss mse --lr 0.01 --precision " + precision + " -o " +
            training.plan);
    for (const char* target : {"host", "cuda"}) training.Compile(target);
    std::string said;
    const std::vector<double> expected = training.Losses("host", "", said);
    CHECK(AreClose(training.Losses("cuda", "", said), expected));
    CHECK(said.find("warning") == std::string::npos);
    CHECK(AreClose(training.Losses("cuda", training.WithoutLibraries(), said), expected));
    CHECK(said.find("warning: without cuBLAS, instruction ") != std::string::npos);
    CHECK(said.find("warning: without cuDNN, instruction ") != std::string::npos);
    CHECK(said.find("libcudnn.so.9: file too short") != std::string::npos);
  }
}

int JointCallsOf(const std::string& file) {
  const auto program = runtime::LoadedProgram::FromFile(file);
  REQUIRE_THAT(program, IsOk());
  return (*program)->message().joint_calls_size();
}

struct Joint {
  std::string zoo;
  int devices, joint;  // at least so many joint calls
};

TEST_CASE("training with joint calls on fake GPUs gives the host's losses, however they run") {
#ifndef YUBA_WITH_CUDA
  WARN("SKIP: built without CUDA");
  return;
#endif
  const std::string gpt = "gpt2 --layers 2 --width 16 --heads 2 --sequence 8 --batch 2 --vocab 40 ";
  const std::string vit =
      "vit --layers 1 --width 16 --heads 2 --image 16 --patch 4 --batch 2 "
      "--classes 10 ";
  Training training;
  training.folder = ScratchFolder("joint");
  training.model = training.folder + "/m.onnx ";
  training.plan = training.folder + "/p.json ";
  for (const Joint& test : {Joint{gpt, 1, 6}, Joint{gpt, 2, 4}, Joint{vit, 1, 4}}) {
    INFO(test.zoo << "on " << test.devices);
    Succeed(training.yuba + "zoo " + test.zoo + "-o " + training.model);
    Succeed(training.yuba + "partition " + training.model + "--devices " +
            std::to_string(test.devices) + " --train adam --loss softmax-cross-entropy -o " +
            training.plan);
    training.Compile("host");
    training.Compile("cuda", "--joint-calls none ");
    CHECK(JointCallsOf(training.Program("cuda")) == 0);
    training.Compile("cuda", "--joint-calls all ");
    CHECK(JointCallsOf(training.Program("cuda")) >= test.joint);
    std::string said;
    const std::vector<double> expected = training.Losses("host", "", said);
    CHECK(AreClose(training.Losses("cuda", "", said), expected));
    CHECK(said.find("warning") == std::string::npos);
    CHECK(AreClose(training.Losses("cuda", "FAKE_REFUSES_GRADIENTS=1 ", said), expected));
    CHECK(said.find("warning: without a joint call of cuBLAS, instruction ") != std::string::npos);
    CHECK(said.find("two kernels") != std::string::npos);
    CHECK(said.find("generated code") == std::string::npos);
    CHECK(AreClose(training.Losses("cuda", training.WithoutLibraries(), said), expected));
    CHECK(said.find("joint call") == std::string::npos);
  }
}

}  // namespace
}  // namespace yuba
