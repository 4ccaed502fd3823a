// Mixtures of experts on fake GPUs, whose tokens are routed by sorts: what the whole model gives,
// and in hash arithmetic bit for bit what processors give, which `yuba verify` compares with the
// interpreter.
#include <catch2/catch.hpp>
#include <string>

#include "tests/support/command.h"

namespace yuba {
namespace {

const std::string& Yuba() {
  static const auto* const command =
      new std::string(RepositoryFile("tests/runtime/cuda/yuba-on-fakes") + " ");
  return *command;
}
const std::string& YubaRun() {
  static const auto* const command =
      new std::string(RepositoryFile("tests/runtime/cuda/yuba-run-on-fakes") + " ");
  return *command;
}

bool HaveCuda() {
#ifdef YUBA_WITH_CUDA
  return true;
#else
  WARN("SKIP: built without CUDA");
  return false;
#endif
}

TEST_CASE("a mixture of experts, TopK and argsort run on fake GPUs") {
  if (!HaveCuda()) return;
  const std::string folder = ScratchFolder("experts");
  for (const std::string name :
       {"moe", "operators/top_k", "operators/top_k_ties", "operators/argsort"}) {
    const std::string model = RepositoryFile("tests/models/" + name + "/model.onnx") + " ";
    const std::string data = RepositoryFile("tests/models/" + name + "/test_data_set_0") + " ";
    for (const std::string devices : {"1", "3"}) {
      INFO(name << " on " << devices);
      const std::string plan = folder + "/p.json ", program = folder + "/p.yuba ";
      Succeed(Yuba() + "partition " + model + "--devices " + devices + " -o " + plan);
      Succeed(Yuba() + "compile " + model + plan + "--target cuda -o " + program);
      Succeed(YubaRun() + program + "--backend cuda --inputs " + data + "--expect 1e-3");
    }
  }
}

TEST_CASE("in hash arithmetic experts on fake GPUs have the interpreter's bits") {
  if (!HaveCuda()) return;
  const std::string folder = ScratchFolder("experts"), model = folder + "/model.onnx ";
  Succeed(Yuba() +
          "zoo moe --layers 1 --batch 2 --sequence 12 --width 16 --heads 2 --kv-heads 1 "
          "--feed-forward 24 --vocab 40 -o " +
          model);
  const std::string plan = folder + "/p.json ";
  Succeed(Yuba() + "partition " + model + "--devices 3 -o " + plan);
  Succeed(Yuba() + "verify " + model + plan);
  for (const std::string target : {"host", "cuda"}) {
    const std::string program = folder + "/" + target + ".yuba ";
    Succeed(Yuba() + "compile " + model + plan + "--hash-arithmetic --target " + target + " -o " +
            program);
    Succeed(YubaRun() + program + "--backend " + target + " --random=3 --outputs " + folder + "/" +
            target);
  }
  Succeed("diff -r " + folder + "/host " + folder + "/cuda");
}

}  // namespace
}  // namespace yuba
