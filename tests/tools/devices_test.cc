// `yuba devices`: every component that a machine may have is listed as found or missing; and what
// `yuba run` says where the GPU is missing.
#include <catch2/catch.hpp>

#include "nlohmann/json.hpp"
#include "tests/support/command.h"

namespace yuba::tools {
namespace {

TEST_CASE("devices names everything that it looks for") {
  const CommandResult text = RunCommand("yuba devices");
  INFO(text.out << text.error);
  REQUIRE(text.exit_code == 0);
  for (const char* name : {"host", "GPU", "--machine", "driver", "cuBLAS", "cuDNN", "NCCL",
                           "oneDNN", "gloo", "openmpi", "mpich"}) {
    INFO(name);
    CHECK(text.out.find(name) != std::string::npos);
  }
  CHECK(text.error.empty());
  CHECK(text.out.find("up to 1024 virtual devices") != std::string::npos);
  for (const char* unused : {"cuFFT", "MVAPICH"}) CHECK(text.out.find(unused) == std::string::npos);
}

TEST_CASE("devices --json says the same to programs") {
  const CommandResult result = RunCommand("yuba devices --json");
  REQUIRE(result.exit_code == 0);
  const nlohmann::json json = nlohmann::json::parse(result.out, nullptr, false);
  REQUIRE(json.is_object());
  CHECK(json["processors"].get<int>() > 0);
  CHECK(json["virtual_devices"].get<int>() == 1024);
  CHECK(json["gpus"].empty() == !json["no_gpu"].get<std::string>().empty());
  // The machine file that fits, or how to make one.
  const std::string machine = json["machine"]["name"], word = json["machine"]["detail"];
  if (json["gpus"].empty()) CHECK(machine == "host");
  CHECK((word.find("yuba calibrate") != std::string::npos) ==
        (machine.empty() || machine == "host"));
  for (const char* name :
       {"driver", "cuBLAS", "cuDNN", "NCCL", "oneDNN", "gloo", "openmpi", "mpich"}) {
    INFO(name);
    REQUIRE(json["components"].contains(name));
    CHECK(json["components"][name]["found"].is_boolean());
    CHECK_FALSE(json["components"][name]["detail"].get<std::string>().empty());
  }
}

TEST_CASE("run on GPUs, where there is none, says what was found and exits with 2") {
  const CommandResult found = RunCommand("yuba devices --json");
  if (!nlohmann::json::parse(found.out)["gpus"].empty()) {
    WARN("SKIP: there is a GPU");
    return;
  }
  const std::string model = RepositoryFile("tests/models/mlp/model.onnx");
  const std::string plan = ScratchFolder("run") + "/p.json";
  REQUIRE(RunCommand("yuba partition " + model + " --devices 2 -o " + plan).exit_code == 0);
  const CommandResult result =
      RunCommand("yuba run " + model + " " + plan + " --backend cuda --random");
  INFO(result.error);
  CHECK(result.exit_code == 2);
  CHECK(result.error.find("no GPU: ") != std::string::npos);
  const CommandResult unknown =
      RunCommand("yuba run " + model + " " + plan + " --backend quantum --random");
  CHECK(unknown.exit_code == 2);
  CHECK(unknown.error.find("{host,cuda,model}") != std::string::npos);
}

}  // namespace
}  // namespace yuba::tools
