// `yuba export`: new values in a model whose other values are in a file beside it.
#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <string>

#include "opsemantics/values/tensor_file.h"
#include "tests/support/command.h"
#include "tests/support/status_matchers.h"

namespace yuba {
namespace {

std::string ReadText(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return std::string(std::istreambuf_iterator<char>(file), {});
}

// mlp with its weights in a file beside it, and a new value of one of them.
struct External {
  explicit External(const std::string& name) : folder(ScratchFolder("export_" + name)) {
    const std::string models = RepositoryFile("tests/models/mlp");
    data = models + "/test_data_set_0";
    Do("cp -L " + models +
       "/model_external.* . && mkdir other && yuba partition "
       "model_external.onnx --devices 3 -o p.json");
    const TensorData bias{ElementType::kF32, {10}, std::string(40, '\x3f')};
    REQUIRE_THAT(WriteSafetensors(folder + "/w.st",
                                  {{"l.2.bias", bias.type, bias.dims, [&] { return bias; }}}),
                 IsOk());
  }
  CommandResult Do(const std::string& commands) const {
    return Succeed("cd " + folder + " && " + commands);
  }
  std::string Answer(const std::string& model) const {
    Do("yuba run " + model + " p.json --inputs " + data + " --outputs out");
    return ReadText(folder + "/out/output_0.npy");
  }

  std::string folder, data;
};

TEST_CASE("values beside a model are taken along into another folder") {
  const External model("other");
  const std::string expected = model.Answer("model_external.onnx --partial-weights --weights w.st");
  CHECK(expected != model.Answer("model_external.onnx"));
  const std::string exported =
      "yuba export model_external.onnx --partial-weights --weights w.st -o ";
  const CommandResult moved = model.Do(exported + "other/new.onnx");
  CHECK(moved.out.find("with 1 new value, and new.onnx.data beside it") != std::string::npos);
  // In the model's own folder the new one finds them.
  const CommandResult stayed = model.Do(exported + "new.onnx");
  CHECK(stayed.out.find("with 1 new value\n") != std::string::npos);
  CHECK_FALSE(std::filesystem::exists(model.folder + "/new.onnx.data"));
  CHECK(model.Answer("new.onnx") == expected);
  model.Do("rm model_external.data");
  CHECK(model.Answer("other/new.onnx") == expected);
}

TEST_CASE("an export that fails leaves no file") {
  const External model("failed");
  const std::string in = "cd " + model.folder + " && ", to = " --weights w.st -o other/new.onnx";
  const CommandResult partial = RunCommand(in + "yuba export model_external.onnx" + to);
  CHECK(partial.exit_code == 2);
  CHECK(partial.error.find("w.st: has no values of l.0.weight, l.0.bias, l.1.weight, l.1.bias, "
                           "l.2.weight, weights of the model") != std::string::npos);
  model.Do("mkdir other/new.onnx");  // not a file that can be written
  CHECK(RunCommand(in + "yuba export model_external.onnx --partial-weights" + to).exit_code == 2);
  model.Do("rmdir other/new.onnx && rm model_external.data");
  const CommandResult missing =
      RunCommand(in + "yuba export model_external.onnx --partial-weights" + to);
  CHECK(missing.exit_code == 2);
  CHECK(missing.error.find("model_external.data") != std::string::npos);
  CHECK(std::filesystem::is_empty(model.folder + "/other"));
}

}  // namespace
}  // namespace yuba
