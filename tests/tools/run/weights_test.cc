// --weights: parameters by name from a safetensors file, in `yuba run` and `yuba-run`.
#include <catch2/catch.hpp>
#include <cstring>
#include <fstream>
#include <string>
#include <vector>

#include "opsemantics/base/half.h"
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
                   R"("other":{"dtype":"F8_E5M2","shape":[4],"data_offsets":[2600,2604]},)"
                   R"("l.2.weight":{"dtype":"F32","shape":[10,64],"data_offsets":[0,2560]}})",
                   std::string(2560, '\0') + Bytes(bias) + "more");
  for (const std::string& command :
       {"yuba run " + model + " " + folder + "/p.json", "yuba-run " + folder + "/m.yuba"}) {
    const std::string weights = " --random --weights " + folder + "/w.safetensors";
    const CommandResult lacking = RunCommand(command + weights);
    CHECK(lacking.exit_code == 2);
    CHECK(lacking.error.find("w.safetensors: has no values of l.0.bias, l.0.weight, l.1.bias, "
                             "l.1.weight, weights of the model; --partial-weights leaves") !=
          std::string::npos);
    const CommandResult result =
        Succeed(command + weights + " --partial-weights --outputs " + folder + "/out");
    CHECK(result.error.find("has no values of l.0.bias, l.0.weight, l.1.bias, l.1.weight, which "
                            "stay as they are") != std::string::npos);
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

TEST_CASE("an equal number of a program's code is used, another one is refused by name") {
  const std::string folder = ScratchFolder("weights_number"),
                    model = RepositoryFile("tests/models/tied/model.onnx"),
                    run = "cd " + folder + " && yuba-run p.yuba --partial-weights --inputs " +
                          RepositoryFile("tests/models/tied/test_data_set_0") + " --weights ";
  Succeed("cd " + folder + " && yuba partition " + model +
          " --devices 2 -o p.json && yuba compile " + model + " p.json -o p.yuba");
  const auto write = [&](float scale) {
    WriteSafetensors(folder + "/w.st",
                     R"({"W":{"dtype":"F32","shape":[4,7],"data_offsets":[0,112]},)"
                     R"("scale":{"dtype":"F32","shape":[1],"data_offsets":[112,116]}})",
                     std::string(112, '\0') + Bytes({scale}));
  };
  write(0.5F);
  CHECK(Succeed(run + "w.st").error.find("has no parameters for") == std::string::npos);
  write(-2.5);
  const CommandResult other = RunCommand(run + "w.st");
  INFO(other.error);
  CHECK(other.exit_code == 2);
  CHECK(other.error.find(
            "yuba-run: w.st: has another value of scale (-2.5), which is part of the "
            "program's code: plan and compile the model that yuba export --weights makes") !=
        std::string::npos);
}

// The rows of `e`, f32[7, 4], that the model `tied` looks up, times its transpose, in bytes.
std::string Answer(const std::vector<float>& e) {
  std::vector<float> y;
  for (const int id : {0, 3, 6, 3, 1, 5}) {
    for (int column = 0; column < 7; ++column) {
      float sum = 0;
      for (int k = 0; k < 4; ++k) sum += e[id * 4 + k] * e[column * 4 + k];
      y.push_back(sum);
    }
  }
  return Bytes(y);
}

// E, H and W of the model `tied` are one weight, and whole numbers, so that sums are exact.
struct TiedModel {
  explicit TiedModel(const std::string& name)
      : folder(ScratchFolder("weights_" + name)),
        model(RepositoryFile("tests/models/tied/model.onnx")) {
    for (int i = 0; i < 28; ++i) e.push_back(static_cast<float>(i * 5 % 11 - 5));
    for (int column = 0; column < 4; ++column) {
      for (int row = 0; row < 7; ++row) turned.push_back(e[row * 4 + column]);
    }
    Succeed("yuba partition " + model + " --devices 3 -o " + folder + "/p.json && yuba compile " +
            model + " " + folder + "/p.json -o " + folder + "/m.yuba");
  }
  // Both commands, and a model that was exported, give the answer of `e`.
  void GiveTheAnswer(const std::string& flags) const {
    const std::string data = " --inputs " + RepositoryFile("tests/models/tied/test_data_set_0") +
                             " --outputs " + folder + "/out ";
    for (const std::string& command :
         {"yuba run " + model + " " + folder + "/p.json", "yuba-run " + folder + "/m.yuba",
          "yuba export " + model + " -o " + folder + "/new.onnx " + flags + " && yuba run " +
              folder + "/new.onnx " + folder + "/p.json"}) {
      INFO(command << flags);
      const bool exported = command.find("export") != std::string::npos;
      const CommandResult ran = Succeed(command + data + (exported ? "" : flags));
      INFO(ran.error);
      CHECK(ReadTensorFile(folder + "/out/output_0.npy").value().data == Answer(e));
    }
  }
  CommandResult Refused(const std::string& flags) const {
    const CommandResult ran = RunCommand("yuba-run " + folder + "/m.yuba --random " + flags);
    CHECK(ran.exit_code == 2);
    return ran;
  }
  std::string File(const std::string& name) const { return folder + "/" + name; }

  std::string folder, model;
  std::vector<float> e, turned;
};

TEST_CASE("names that share a tensor's elements have its value") {
  const TiedModel tied("shared");
  const std::string both = R"("E":{"dtype":"F32","shape":[7,4],"data_offsets":[0,112]},)"
                           R"("W":{"dtype":"F32","shape":[4,7],"data_offsets":[112,224]}})";
  WriteSafetensors(tied.File("file.st"), R"({"__metadata__":{"format":"pt","H":"E"},)" + both,
                   Bytes(tied.e) + Bytes(tied.turned));
  tied.GiveTheAnswer("--weights " + tied.File("file.st"));
  Succeed("mkdir " + tied.File("single"));  // as Hugging Face writes a small model
  WriteSafetensors(tied.File("single/model.safetensors"), R"({"__metadata__":{"H":"E"},)" + both,
                   Bytes(tied.e) + Bytes(tied.turned));
  tied.GiveTheAnswer("--weights " + tied.File("single"));
  // In a folder the index says so, or the file that would have the tensor.
  Succeed("mkdir " + tied.File("index") + " " + tied.File("shards"));
  WriteSafetensors(tied.File("index/a.safetensors"), "{" + both,
                   Bytes(tied.e) + Bytes(tied.turned));
  std::ofstream(tied.File("index/model.safetensors.index.json"))
      << R"({"metadata":{"total_size":224,"H":"E"},)"
      << R"("weight_map":{"E":"a.safetensors","W":"a.safetensors"}})";
  tied.GiveTheAnswer("--weights " + tied.File("index"));
  WriteSafetensors(tied.File("shards/a.safetensors"), R"({"__metadata__":{"H":"E"},)" + both,
                   Bytes(tied.e) + Bytes(tied.turned));
  std::ofstream(tied.File("shards/model.safetensors.index.json"))
      << R"({"weight_map":{"H":"a.safetensors","W":"a.safetensors"}})";
  tied.GiveTheAnswer("--weights " + tied.File("shards"));
}

TEST_CASE("a prefix is taken from names that begin with it, once") {
  const TiedModel tied("prefix");
  const std::string rest = R"("model.E":{"dtype":"F32","shape":[7,4],"data_offsets":[0,112]},)"
                           R"("W":{"dtype":"F32","shape":[4,7],"data_offsets":[112,224]}})";
  const std::string values = Bytes(tied.e) + Bytes(tied.turned), file = tied.File("w.st");
  WriteSafetensors(file, R"({"__metadata__":{"model.H":"model.E"},)" + rest, values);
  tied.GiveTheAnswer("--weights-prefix model. --weights " + file);
  CHECK(
      tied.Refused("--weights " + file).error.find("has no values of E, H, weights of the model") !=
      std::string::npos);
  CHECK(tied.Refused("--weights-prefix m. --weights " + file)
            .error.find("w.st: none of its names begins with m.") != std::string::npos);
  WriteSafetensors(file, R"({"E":{"dtype":"F32","shape":[1],"data_offsets":[224,228]},)" + rest,
                   values + "more");
  CHECK(tied.Refused("--weights-prefix model. --weights " + file)
            .error.find("w.st: has E and model.E, which would be one") != std::string::npos);
  WriteSafetensors(file, R"({"a.b.E":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}})", "more");
  CHECK(tied.Refused("--weights " + file).error.find("try --weights-prefix a.b.") !=
        std::string::npos);
}

TEST_CASE("halves serve floats, and what is not needed may be of any type") {
  const TiedModel tied("halves");
  std::string bf16, f16;
  for (const float value : tied.e) {
    uint32_t bits = 0;
    std::memcpy(&bits, &value, sizeof bits);
    bf16.append({static_cast<char>(bits >> 16), static_cast<char>(bits >> 24)});
  }
  for (const float value : tied.turned) {
    const uint16_t half = ToF16(value);
    f16.append({static_cast<char>(half), static_cast<char>(half >> 8)});
  }
  const std::string file = tied.File("w.st");
  const auto write = [&](const std::string& other) {
    WriteSafetensors(file,
                     R"({"__metadata__":{"H":"E"},)"
                     R"("E":{"dtype":"BF16","shape":[7,4],"data_offsets":[0,56]},")" +
                         other + R"(":{"dtype":"F8_E4M3","shape":[56],"data_offsets":[112,168]},)" +
                         R"("W":{"dtype":"F16","shape":[4,7],"data_offsets":[56,112]}})",
                     bf16 + f16 + std::string(56, '\0'));
  };
  write("other");
  tied.GiveTheAnswer("--weights " + file);
  WriteSafetensors(file,
                   R"({"E":{"dtype":"F32","shape":[7,4],"data_offsets":[0,112]},)"
                   R"("H":{"dtype":"F8_E4M3","shape":[7,4],"data_offsets":[112,140]}})",
                   Bytes(tied.e) + std::string(28, '\0'));
  CHECK(tied.Refused("--weights " + file)
            .error.find("w.st: H is of type F8_E4M3, which is not read") != std::string::npos);
  WriteSafetensors(file, R"({"E":{"dtype":"F64","shape":[7,4],"data_offsets":[0,224]}})",
                   std::string(224, '\0'));
  CHECK(tied.Refused("--partial-weights --weights " + file)
            .error.find("E: elements of f64, the program wants f32") != std::string::npos);
}

}  // namespace
}  // namespace yuba
