// yuba-run on a machine with several fake GPUs starts a process for each device by itself, or says
// why it has all devices on one GPU. NCCL's fake knows one process alone, so that these programs
// exchange nothing.
#include <catch2/catch.hpp>

#include "tests/support/command.h"

namespace yuba {
namespace {

// A map of 2 devices, compiled for the fakes; each has its part of the input and of the output.
std::string CompiledMap(const std::string& folder) {
  const std::string yuba = RepositoryFile("tests/runtime/cuda/yuba-on-fakes") + " ";
  const std::string model = RepositoryFile("tests/models/operators/relu/model.onnx") + " ";
  Succeed(yuba + "partition " + model + "--devices 2 -o " + folder + "/p.json");
  Succeed(yuba + "compile " + model + folder + "/p.json --target cuda -o " + folder + "/p.yuba");
  return folder + "/p.yuba ";
}

TEST_CASE("each device is a process where there is a GPU for it, unless one process is asked for") {
#ifndef YUBA_WITH_CUDA
  WARN("SKIP: built without CUDA");
  return;
#endif
  const std::string program = CompiledMap(ScratchFolder("ranks"));
  const auto run = [&](const std::string& gpus, const std::string& flags) {
    const CommandResult ran = RunCommand(
        "LD_LIBRARY_PATH=" + RepositoryFile("runtime/ranks/transports") + " FAKE_GPUS=" + gpus +
        " " + RepositoryFile("tests/runtime/cuda/yuba-run-on-fakes") + " " + program +
        "--backend cuda --inputs " + RepositoryFile("tests/models/operators/relu/test_data_set_0") +
        " --expect 1e-6 " + flags);
    INFO(flags << "\n" << ran.out << ran.error);
    CHECK(ran.exit_code == 0);
    return ran.out + ran.error;
  };
  const std::string ranks = "each a process through ", note = "each of the 2 devices is a process";
  for (const char* gpus : {"2", "3"}) {
    const std::string said = run(gpus, "");
    CHECK_THAT(said, Catch::Contains(ranks) && Catch::Contains(note));
    CHECK_THAT(said, !Catch::Contains("virtual"));
  }
  for (const char* flags : {"--ranks 1", "--interleave 3"})
    CHECK_THAT(run("2", flags), !Catch::Contains(ranks) && !Catch::Contains(note));
  CHECK_THAT(run("1", ""), !Catch::Contains(ranks) &&
                               Catch::Contains("2 devices and 1 GPU: all devices are virtual"));
}

}  // namespace
}  // namespace yuba
