// Weights in files that are missing, cut short or replaced, at any time between planning and
// running: an error that names file and tensor, never a crash.
#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>

#include "tests/support/command.h"

namespace yuba {
namespace {

// A folder with a model whose weights are beside it, and a plan.
struct Files {
  std::string folder;

  explicit Files(const std::string& name) : folder(ScratchFolder(name)) {
    for (const char* file : {"model_external.onnx", "model_external.data"}) {
      std::filesystem::copy_file(RepositoryFile("tests/models/mlp/") + file, folder + "/" + file);
      std::filesystem::permissions(folder + "/" + file, std::filesystem::perms::owner_all);
    }
    Succeed("cd " + folder + " && yuba partition model_external.onnx --devices 2 -o p.json");
  }

  // `line`, run in the folder, ends with exit code 2 and says all of `parts`.
  void Refuses(const std::string& line, const std::vector<std::string>& parts) const {
    const CommandResult result = RunCommand("cd " + folder + " && " + line);
    INFO(line << "\n" << result.out << result.error);
    CHECK(result.exit_code == 2);
    for (const std::string& part : parts) CHECK(result.error.find(part) != std::string::npos);
  }
  void Resize(const std::string& file, int64_t change) const {
    const std::string path = folder + "/" + file;
    std::filesystem::resize_file(path, std::filesystem::file_size(path) + change);
  }
};

TEST_CASE("a model whose weights are missing or cut short is refused when it is planned") {
  const Files files("plan");
  const std::string partition = "yuba partition model_external.onnx --devices 2 -o q.json";
  files.Resize("model_external.data", -4);
  files.Refuses(partition, {"model_external.onnx: tensor '", "its external data is",
                            "model_external.data, which has only"});
  std::filesystem::remove(files.folder + "/model_external.data");
  files.Refuses(partition, {"tensor '", "model_external.data: cannot be read: No such file"});
}

TEST_CASE("a program that refers to weights is refused where these are not as they were") {
  const Files files("run");
  const std::string compile = "yuba compile model_external.onnx p.json -o ";
  Succeed("cd " + files.folder + " && " + compile + "refers.yuba --values reference && " + compile +
          "holds.yuba");
  const std::string run = "yuba-run refers.yuba --random";
  Succeed("cd / && yuba-run " + files.folder + "/refers.yuba --random");
  const std::string next = "bring it back, or write the program again with yuba compile";
  for (const int64_t change : {-1, 2}) {
    files.Resize("model_external.data", change);
    files.Refuses(run, {"the value of parameter ", files.folder + "/model_external.data: has ",
                        "it was cut short or replaced", next});
  }
  std::filesystem::remove(files.folder + "/model_external.data");
  files.Refuses(run, {"model_external.data: cannot be read: No such file", next});
  Succeed("cd " + files.folder + " && yuba-run holds.yuba --random");
}

TEST_CASE("--values takes copy or reference") {
  const Files files("flag");
  files.Refuses("yuba compile model_external.onnx p.json --values elsewhere", {"--values"});
}

TEST_CASE("weights of --weights that are cut short are refused by name") {
  const Files files("safetensors");
  const std::string header = R"({"w":{"dtype":"F32","shape":[4],"data_offsets":[0,16]}})";
  std::string bytes(8, '\0');
  bytes[0] = static_cast<char>(header.size());
  std::ofstream(files.folder + "/w.safetensors", std::ios::binary) << bytes << header << "short";
  files.Refuses("yuba run model_external.onnx p.json --random --weights w.safetensors",
                {"w.safetensors: w: data_offsets [0, 16) do not fit the shape or the file"});
}

}  // namespace
}  // namespace yuba
