// The PTX of whole programs, assembled as a driver does it: no kernel needs more registers than
// there are. Needs ptxas, no GPU.
#include <catch2/catch.hpp>

#include "tests/compiler/kernels/ptxas.h"
#include "tests/support/command.h"
#include "tests/support/part.h"

namespace yuba::kernels {
namespace {

// Compiles a plan of the model on so many devices, and assembles its kernels.
void Assemble(const std::string& model, const std::string& flags, int devices) {
  INFO(model << " " << flags << " on " << devices);
  const std::string folder = ScratchFolder("program_ptx"), plan = folder + "/p.json ";
  const std::string file = RepositoryFile("tests/models/" + model + "/model.onnx ");
  Succeed("yuba partition " + file + flags + " --devices " + std::to_string(devices) + " -o " +
          plan);
  Succeed("yuba compile " + file + plan + "--target cuda --no-verify --dump-kernels " + folder +
          " -o " + folder + "/p.yuba");
  const CommandResult assembled = RunCommand(FindPtxas() + " -O3 -v -arch=sm_90 -o " + folder +
                                             "/p.cubin " + folder + "/kernels.ptx 2>&1");
  REQUIRE(assembled.exit_code == 0);
  const std::string none = "0 bytes spill stores, 0 bytes spill loads";
  int kernels = 0;
  for (size_t at = 0; (at = assembled.out.find("bytes stack frame", at)) != std::string::npos;) {
    at = assembled.out.find(", ", at) + 2;
    CHECK(assembled.out.compare(at, none.size(), none) == 0);
    ++kernels;
  }
  CHECK(kernels > 0);
}

TEST_CASE("programs of models are assembled at -O3 without spills") {
  if (FindPtxas().empty()) {
    WARN("SKIP: no ptxas in PATH nor in /usr/local/cuda/bin");
    return;
  }
  size_t number = 0;
  for (const char* model : {"mlp", "conv", "encoder", "gpt", "lstm"}) {
    for (const int devices : {1, 8}) {
      if (IsTried(number++, 3)) Assemble(model, "", devices);
    }
  }
  for (const char* model : {"mlp", "encoder", "gpt", "lstm"}) {
    for (const char* precision : {"f32", "bf16"}) {
      if (!IsTried(number++, 3)) continue;
      Assemble(model,
               "--train adam --loss softmax-cross-entropy --precision " + std::string(precision),
               3);
    }
  }
}

}  // namespace
}  // namespace yuba::kernels
