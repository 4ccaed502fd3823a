// `yuba run --save` and `--resume`: checkpoints in a file and in a folder; what ends a run leaves
// the last one whole.
#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "nlohmann/json.hpp"
#include "opsemantics/values/tensor_file.h"
#include "tests/support/command.h"
#include "tests/support/status_matchers.h"

namespace yuba {
namespace {

std::string ReadText(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return std::string(std::istreambuf_iterator<char>(file), {});
}

// All files below the folder, by their names.
std::set<std::string> FilesIn(const std::string& folder) {
  std::set<std::string> files;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
    if (entry.is_regular_file()) files.insert(entry.path().filename().string());
  }
  return files;
}

// Training of mlp with three batches, in another order in each epoch.
struct Training {
  explicit Training(const std::string& name)
      : folder(ScratchFolder("checkpoint_" + name)),
        models(RepositoryFile("tests/models/mlp")),
        data(folder + "/data") {
    TensorData x{ElementType::kF32, {40, 48}, ""}, labels{ElementType::kI64, {40}, ""};
    for (int i = 0; i < 40 * 48; ++i) {
      const float value = static_cast<float>(i * 37 % 101) / 50 - 1;
      x.data.append(reinterpret_cast<const char*>(&value), sizeof value);
    }
    for (int64_t i = 0; i < 40; ++i) {
      const int64_t label = i * 7 % 10;
      labels.data.append(reinterpret_cast<const char*>(&label), sizeof label);
    }
    Succeed("mkdir " + data);
    std::ofstream(data + "/x.npy", std::ios::binary) << FormatNpy(x);
    std::ofstream(data + "/labels.npy", std::ios::binary) << FormatNpy(labels);
    Plan("adam", "3");
  }

  void Plan(const std::string& optimizer, const std::string& devices,
            const std::string& flags = "") const {
    Succeed("yuba partition " + models + "/model.onnx --train " + optimizer + " --loss " +
            "softmax-cross-entropy --devices " + devices + flags + " -o " + folder + "/p.json");
  }
  std::string Command(const std::string& flags) const {
    return "cd " + folder + " && yuba run " + models + "/model.onnx p.json --data " + data +
           " --shuffle 5 --lr-schedule linear:0.01,warmup=2,steps=9 " + flags;
  }
  nlohmann::json Run(const std::string& flags) const {
    return nlohmann::json::parse(Succeed(Command(flags + " --json")).out);
  }
  void Refuses(const std::string& flags, const std::vector<std::string>& messages) const {
    const CommandResult ran = RunCommand(Command(flags));
    INFO(flags << "\n" << ran.error);
    CHECK(ran.exit_code == 2);
    for (const std::string& message : messages) {
      CHECK(ran.error.find(message) != std::string::npos);
    }
  }

  std::string folder, models, data;
};

// The tensors of a file, for another one.
std::vector<TensorToWrite> Written(const std::map<std::string, StoredTensor>& stored) {
  std::vector<TensorToWrite> tensors;
  for (const auto& [name, tensor] : stored) {
    tensors.push_back({name, tensor.type, tensor.dims, [tensor = tensor]() {
                         return TensorOf(tensor.type, tensor.dims, ReadRange(tensor.bytes).value());
                       }});
  }
  return tensors;
}

TEST_CASE("a run goes on from a file or a folder with the bits of one without a pause") {
  const Training training("resume");
  const nlohmann::json whole = training.Run("--steps 8 --save whole.st");
  for (const std::string place : {"part.st", "part/"}) {
    INFO(place);
    training.Run("--steps 5 --shard-size 30kB --save " + place);
    const nlohmann::json rest =
        training.Run("--steps 8 --resume " + place + " --shard-size 30kB --save " + place);
    CHECK(rest["first_step"] == 6);
    for (const char* number : {"loss", "lr"}) {
      const std::vector<double> all = whole["numbers"][number];
      CHECK(rest["numbers"][number] == std::vector<double>(all.begin() + 5, all.end()));
    }
  }
  CHECK(ReadText(training.folder + "/part.st") == ReadText(training.folder + "/whole.st"));
  // The folder has the same states in several files, and those of the first checkpoint are gone.
  const std::string folder = training.folder + "/part";
  const nlohmann::json index =
      nlohmann::json::parse(ReadText(folder + "/model.safetensors.index.json"));
  CHECK(index["metadata"]["step"] == 8);
  const auto states = ReadSafetensors(training.folder + "/whole.st");
  REQUIRE_THAT(states, IsOk());
  std::set<std::string> files = {"model.safetensors.index.json"};
  int64_t bytes = 0;
  REQUIRE(index["weight_map"].size() == states->tensors.size());
  for (const auto& [name, stored] : states->tensors) {
    const std::string file = index["weight_map"][name];
    files.insert(file);
    const auto tensors = ReadSafetensors(folder + "/" + file);
    REQUIRE_THAT(tensors, IsOk());
    CHECK(ReadRange(tensors->tensors.at(name).bytes).value() == ReadRange(stored.bytes).value());
    bytes += stored.bytes.length;
  }
  CHECK(index["metadata"]["total_size"] == bytes);
  CHECK(files == FilesIn(folder));
  CHECK(files.size() >= 5);  // 139 kB in pieces of 30 kB
  for (const std::string& file : files) CHECK(file.rfind("model", 0) == 0);
  CHECK(*files.begin() ==
        "model-step8-00001-of-0000" + std::to_string(files.size() - 1) + ".safetensors");
  // On another number of devices the same values go on.
  training.Plan("adam", "2");
  const nlohmann::json other = training.Run("--steps 9 --resume part");
  CHECK(other["first_step"] == 9);
  training.Plan("adam", "3");
  const nlohmann::json same = training.Run("--steps 9 --resume whole.st");
  CHECK(other["numbers"]["loss"][0].get<double>() ==
        Approx(same["numbers"]["loss"][0].get<double>()).epsilon(1e-5));
  // Weights of a folder go back into the model, and begin another run.
  const std::string exported = "yuba export " + training.models + "/model.onnx -o ";
  Succeed("cd " + training.folder + " && " + exported + "a.onnx --weights part && " + exported +
          "b.onnx --weights whole.st && cmp a.onnx b.onnx");
  CHECK(training.Run("--steps 1 --weights part")["numbers"]["loss"][0] !=
        whole["numbers"]["loss"][0]);
}

TEST_CASE("a checkpoint has the frozen weights that a run was given") {
  const Training training("frozen");
  training.Run("--steps 3 --save other.st");  // weights that are not the model's
  const std::string frozen = " --freeze 'l.0.*' --freeze l.1.bias";
  training.Plan("adam", "3", frozen);
  const std::vector<double> whole = training.Run("--steps 6 --weights other.st")["numbers"]["loss"];
  training.Run("--steps 3 --weights other.st --save half.st");
  const std::vector<double> rest(whole.begin() + 3, whole.end());
  CHECK(training.Run("--steps 6 --resume half.st")["numbers"]["loss"] == rest);
  // A checkpoint of a run that went on has them too, and a program without its model goes on.
  training.Run("--steps 4 --resume half.st --save half.st");
  Succeed("cd " + training.folder + " && yuba compile " + training.models +
          "/model.onnx p.json -o p.yuba");
  const std::string run = "cd " + training.folder + " && yuba-run p.yuba --json --data " +
                          training.data +
                          " --shuffle 5 --lr-schedule linear:0.01,warmup=2,steps=9 ";
  CHECK(nlohmann::json::parse(Succeed(run + "--steps 6 --resume half.st").out)["numbers"]["loss"] ==
        std::vector<double>(whole.begin() + 4, whole.end()));
  // On other devices, and in the model's file.
  training.Plan("adam", "2", frozen);
  const std::vector<double> two = training.Run("--steps 6 --resume half.st")["numbers"]["loss"];
  CHECK(two[0] == Approx(whole[4]).epsilon(1e-5));
  Succeed("cd " + training.folder + " && yuba export " + training.models +
          "/model.onnx --weights half.st -o new.onnx && " + "yuba run new.onnx p.json --json " +
          "--data " + training.data + " --shuffle 5 --resume half.st --steps 6");
  const auto checkpoint = ReadSafetensors(training.folder + "/half.st");
  REQUIRE_THAT(checkpoint, IsOk());
  CHECK(checkpoint->tensors.count("l.0.weight") == 1);
  CHECK(checkpoint->tensors.count("l.0.weight.m") == 0);
}

TEST_CASE("a disk that is full or a signal leaves a whole checkpoint") {
  const Training training("ended");
  for (const std::string place : {"c.st", "c/"}) {
    INFO(place);
    training.Run("--steps 3 --save " + place);
    const std::set<std::string> before = FilesIn(training.folder);
    // Files of 40 kB at most, where the states need 139 kB: as if the disk were full.
    const CommandResult full = RunCommand(
        "ulimit -f 40; " + training.Command("--steps 6 --resume " + place + " --save " + place));
    CHECK(full.exit_code == 2);
    CHECK(full.error.find("cannot be written: File too large") != std::string::npos);
    CHECK(FilesIn(training.folder) == before);
    // The signal comes while steps run; the run ends after its step, with a checkpoint of it.
    const CommandResult ended =
        RunCommand("rm -f " + training.folder + "/run.out; set -m\n{ " +
                   training.Command("--steps 1000000 --resume " + place + " --save " + place) +
                   "; } > " + training.folder + "/run.out & while ! grep -qs '^step 9' " +
                   training.folder + "/run.out; do sleep 0.1; done; kill -INT -- -$!; wait $!");
    INFO(ended.error);
    CHECK(ended.exit_code == 130);
    const std::string said = "interrupted after step ";
    const size_t at = ended.error.find(said);
    REQUIRE(at != std::string::npos);
    const int step = std::stoi(ended.error.substr(at + said.size()));
    CHECK(step >= 9);
    CHECK(training.Run("--steps " + std::to_string(step + 1) + " --resume " +
                       place)["first_step"] == step + 1);
    for (const std::string& file : FilesIn(training.folder)) {
      CHECK(file.find(".yuba") == std::string::npos);
      CHECK(file.find(".new") == std::string::npos);
    }
  }
}

TEST_CASE("a checkpoint of something else is refused by tensor, and nothing is lost") {
  const Training training("refused");
  training.Run("--steps 2 --save adam.st");
  const std::string file = training.folder + "/adam.st", saved = ReadText(file);
  training.Refuses("--steps 2 --resume adam.st --save adam.st",
                   {"adam.st: 2 steps of it are done, and the run has 2 in all"});
  training.Refuses("--resume adam.st --weights adam.st", {"excludes"});
  training.Refuses("--steps 9 --shard-size 0", {"--shard-size"});
  training.Plan("momentum", "2");
  training.Refuses("--steps 9 --resume adam.st --save adam.st",
                   {"adam.st: its run had --train adam, and this one has momentum"});
  training.Run("--steps 2 --save momentum.st");
  training.Plan("adam", "2");
  training.Refuses("--steps 9 --resume momentum.st", {"its run had --train momentum"});
  // Older checkpoints do not say it.
  const auto of_momentum = ReadSafetensors(training.folder + "/momentum.st");
  REQUIRE_THAT(of_momentum, IsOk());
  REQUIRE_THAT(
      WriteSafetensors(training.folder + "/old.st", Written(of_momentum->tensors), {{"step", "2"}}),
      IsOk());
  training.Refuses("--steps 9 --resume old.st", {"old.st: lacks t, f32[], a state of the program"});
  CHECK(ReadText(file) == saved);
  // The same values in another shape.
  auto stored = ReadSafetensors(file);
  REQUIRE_THAT(stored, IsOk());
  stored->tensors.at("l.0.bias").dims = {48, 2};
  const std::vector<TensorToWrite> tensors = Written(stored->tensors);
  const std::string other = training.folder + "/other.st";
  REQUIRE_THAT(WriteSafetensors(other, tensors, {{"step", "2"}}), IsOk());
  training.Refuses("--steps 9 --resume other.st",
                   {"l.0.bias is f32[48, 2] there, and the program's is f32[96]"});
  REQUIRE(std::filesystem::remove(other));
  REQUIRE_THAT(WriteSafetensors(other, tensors), IsOk());
  training.Refuses("--steps 9 --resume other.st", {"does not say after how many steps"});
  std::ofstream(other, std::ios::binary) << saved.substr(0, saved.size() - 1);
  training.Refuses("--steps 9 --resume other.st",
                   {"other.st: ", "do not fit the shape or the file"});
}

TEST_CASE("a folder that is no whole checkpoint is refused by file and tensor") {
  const Training training("folder");
  training.Run("--steps 2 --shard-size 30kB --save c/");
  const std::string folder = training.folder + "/c",
                    index = folder + "/model.safetensors.index.json", text = ReadText(index);
  const auto refuses = [&](const std::string& contents, const std::string& message) {
    std::ofstream(index) << contents;
    training.Refuses("--steps 9 --resume c --save c", {message});
    CHECK(ReadText(index) == contents);
  };
  const std::string shard = nlohmann::json::parse(text)["weight_map"]["l.0.bias"];
  refuses("{}", "model.safetensors.index.json: is no index of a checkpoint: it has no weight_map");
  refuses(text.substr(0, text.size() / 2), "is no index of a checkpoint");
  refuses(R"({"metadata":{"step":2},"weight_map":{"w":"../w.st"}})",
          "w is in no file of the folder");
  refuses(R"({"weight_map":{}})", "does not say after how many steps");
  refuses(R"({"metadata":{"step":2},"weight_map":{"w":")" + shard + "\"}}",
          shard + ": lacks w, which is there according to ");
  std::ofstream(index) << text;
  std::filesystem::remove(folder + "/" + shard);
  training.Refuses("--steps 9 --resume c", {"index.json says that l.0.bias is there: ", shard,
                                            "cannot be read: No such file"});
}

}  // namespace
}  // namespace yuba
