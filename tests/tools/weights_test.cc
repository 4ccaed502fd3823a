// --weights: parameters by name from a safetensors file, in `yuba run` and `yuba-run`.
#include <catch2/catch.hpp>
#include <fstream>

#include "opsemantics/values/tensor_file.h"
#include "tests/support/command.h"
#include "tests/support/status_matchers.h"

namespace yuba {
namespace {

std::string Bytes(const std::vector<float>& values) {
  return std::string(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(float));
}

void WriteSafetensors(const std::string& path, const std::string& header, const std::string& data) {
  std::string length(8, '\0');
  length[0] = static_cast<char>(header.size() & 255);
  length[1] = static_cast<char>(header.size() >> 8);
  std::ofstream(path, std::ios::binary) << length << header << data;
}

TEST_CASE("weights of a safetensors file take the place of the model's") {
  const std::string folder = ScratchFolder("weights");
  const std::string model = RepositoryFile("tests/models/mlp/model.onnx");
  Succeed("yuba partition " + model + " --devices 3 -o " + folder + "/p.json");
  Succeed("yuba compile " + model + " " + folder + "/p.json -o " + folder + "/m.yuba");
  // The last layer's weight is 0 and its bias 1 to 10: so is each row of y.
  std::vector<float> bias, y;
  for (int i = 1; i <= 10; ++i) bias.push_back(static_cast<float>(i));
  for (int row = 0; row < 12; ++row) y.insert(y.end(), bias.begin(), bias.end());
  WriteSafetensors(folder + "/w.safetensors",
                   R"({"l.2.bias":{"dtype":"F32","shape":[10],"data_offsets":[2560,2600]},)"
                   R"("other":{"dtype":"I8","shape":[0],"data_offsets":[0,0]},)"
                   R"("l.2.weight":{"dtype":"F32","shape":[10,64],"data_offsets":[0,2560]}})",
                   std::string(2560, '\0') + Bytes(bias));
  for (const std::string& command :
       {"yuba run " + model + " " + folder + "/p.json", "yuba-run " + folder + "/m.yuba"}) {
    const CommandResult result = Succeed(command + " --random --weights " + folder +
                                         "/w.safetensors --outputs " + folder + "/out");
    CHECK(result.error.find("1 tensor in it that the program has no parameters for") !=
          std::string::npos);
    const auto output = ReadTensorFile(folder + "/out/output_0.npy");
    REQUIRE_THAT(output, IsOk());
    CHECK(output->data == Bytes(y));
  }
  WriteSafetensors(folder + "/none.safetensors",
                   R"({"other":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}})", "1234");
  const CommandResult none = RunCommand("yuba-run " + folder + "/m.yuba --random --weights " +
                                        folder + "/none.safetensors");
  CHECK(none.exit_code == 2);
  CHECK(none.error.find("none of its 1 tensor has the name of a parameter") != std::string::npos);
}

}  // namespace
}  // namespace yuba
