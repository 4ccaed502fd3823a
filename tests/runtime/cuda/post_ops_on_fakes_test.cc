// Whole models on fake GPUs whose products and convolutions are calls with what follows them:
// outputs are the host's, through the fakes of cuBLASLt and cuDNN and, without these libraries, by
// the generated code beside the joined calls, whole and cut.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <cstring>
#include <fstream>
#include <string>
#include <vector>

#include "opsemantics/values/tensor_file.h"
#include "runtime/program/program.h"
#include "tests/support/command.h"
#include "tests/support/status_matchers.h"

namespace yuba {
namespace {

std::vector<float> OutputOf(const std::string& folder) {
  const auto output = ReadTensorFile(folder + "/output_0.npy");
  REQUIRE_THAT(output, IsOk());
  std::vector<float> values(output->data.size() / sizeof(float));
  std::memcpy(values.data(), output->data.data(), output->data.size());
  return values;
}

// To rounding, where the largest value is one.
bool AreClose(const std::vector<float>& found, const std::vector<float>& expected) {
  if (found.size() != expected.size() || found.empty()) return false;
  float largest = 0, difference = 0;
  for (size_t i = 0; i < found.size(); ++i) {
    if (!std::isfinite(found[i])) return false;
    largest = std::max(largest, std::abs(expected[i]));
    difference = std::max(difference, std::abs(found[i] - expected[i]));
  }
  return difference <= 2e-5F * largest;
}

// How many library calls of the program have post-ops.
int JoinedCalls(const std::string& file) {
  const auto program = runtime::LoadedProgram::FromFile(file);
  REQUIRE_THAT(program, IsOk());
  int joined = 0;
  for (const program::Instruction& instruction : (*program)->instructions()) {
    if (!instruction.has_kernel()) continue;
    const auto& function = (*program)->message().functions(instruction.kernel().function());
    joined += function.library().post_ops().empty() ? 0 : 1;
  }
  return joined;
}

struct Case {
  std::string model, flags;  // of the zoo, or a file of the repository; of partition
  int devices, joined;       // at least so many calls with post-ops
};

TEST_CASE("models with post-ops in their calls on fake GPUs, with libraries and without") {
#ifndef YUBA_WITH_CUDA
  WARN("SKIP: built without CUDA");
  return;
#endif
  const std::string folder = ScratchFolder("post_ops"), here = "tests/runtime/cuda/";
  const std::string yuba = RepositoryFile(here + "yuba-on-fakes") + " ";
  // In front of the real ones, and no libraries.
  for (const char* name : {"libcublasLt.so.13", "libcublasLt.so.12", "libcudnn.so.9"})
    std::ofstream(folder + "/" + name) << "no library";
  const std::string gpt = "gpt2 --layers 2 --width 16 --heads 2 --sequence 8 --batch 2 --vocab 40 ";
  const std::string convolutions = "tests/models/conv/model.onnx";
  for (const Case& test :
       {Case{gpt, "", 1, 6}, Case{gpt, "", 3, 2}, Case{convolutions, "--init ", 1, 2},
        Case{convolutions, "--init ", 2, 1}}) {
    INFO(test.model << " on " << test.devices);
    const std::string plan = folder + "/p.json ";
    std::string model = folder + "/m.onnx ";
    if (test.model == convolutions)
      model = RepositoryFile(test.model) + " ";
    else
      Succeed(yuba + "zoo " + test.model + "-o " + model);
    Succeed(yuba + "partition " + model + test.flags + "--devices " + std::to_string(test.devices) +
            " -o " + plan);
    const auto output = [&](const std::string& target, const std::string& environment,
                            std::string& said) {
      const std::string program = folder + "/" + target + ".yuba", out = folder + "/out";
      Succeed(yuba + "compile " + model + plan + "--target " + target + " -o " + program);
      if (target == "cuda") CHECK(JoinedCalls(program) >= test.joined);
      const CommandResult ran =
          RunCommand(environment + RepositoryFile(here + "yuba-run-on-fakes") + " " + program +
                     " --backend " + target + " --random=3 --outputs " + out);
      INFO(ran.error);
      CHECK(ran.exit_code == 0);
      said = ran.error;
      return OutputOf(out);
    };
    std::string said;
    const std::vector<float> expected = output("host", "", said);
    CHECK(AreClose(output("cuda", "", said), expected));
    CHECK(said.find("warning") == std::string::npos);
    CHECK(AreClose(output("cuda", "LD_LIBRARY_PATH=" + folder + " ", said), expected));
    CHECK(said.find("warning: without cuBLAS, instruction ") != std::string::npos);
  }
}

}  // namespace
}  // namespace yuba
