// Training where some labels do not count: PyTorch's losses (tests/models/ignored), however the
// batch and the step are cut.
#include <catch2/catch.hpp>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <string>
#include <vector>

#include "nlohmann/json.hpp"
#include "opsemantics/values/tensor_file.h"
#include "tests/support/command.h"

namespace yuba {
namespace {

std::string Model() { return RepositoryFile("tests/models/mlp/model.onnx"); }
constexpr int64_t kBatch = 12, kWidth = 48;

const nlohmann::json& Expected() {
  static const auto* const kExpected = [] {
    std::ifstream stream(RepositoryFile("tests/models/ignored/losses.json"));
    return new nlohmann::json(nlohmann::json::parse(stream));
  }();
  return *kExpected;
}

std::string ReadText(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return std::string(std::istreambuf_iterator<char>(file), {});
}

template <typename T>
std::string Bytes(const std::vector<T>& elements) {
  return {reinterpret_cast<const char*>(elements.data()), elements.size() * sizeof(T)};
}

// FOLDER/x.npy and FOLDER/labels.npy: for each step the model's own batch, and these labels.
void WriteData(const std::vector<std::vector<int64_t>>& steps, const std::string& folder) {
  const auto batch = ReadTensorFile(RepositoryFile("tests/models/mlp/test_data_set_0/input_0.pb"));
  REQUIRE(batch.ok());
  std::string x, labels;
  for (const std::vector<int64_t>& step : steps) {
    x += batch->data;
    labels += Bytes(step);
  }
  const auto rows = static_cast<int64_t>(steps.size()) * kBatch;
  std::ofstream(folder + "/x.npy", std::ios::binary)
      << FormatNpy({ElementType::kF32, {rows, kWidth}, x});
  std::ofstream(folder + "/labels.npy", std::ios::binary)
      << FormatNpy({ElementType::kI64, {rows}, labels});
}

// The bytes of all tensors of a file of safetensors, behind its header.
std::string TensorsOf(const std::string& path) {
  const std::string file = ReadText(path);
  uint64_t header = 0;
  REQUIRE(file.size() > sizeof header);
  std::memcpy(&header, file.data(), sizeof header);
  REQUIRE(file.size() > sizeof header + header);
  return file.substr(sizeof header + header);
}

std::string Partition(const std::string& flags, const std::string& folder) {
  Succeed("yuba partition " + Model() + " " + flags + " -o " + folder + "/p.json");
  return Model() + " " + folder + "/p.json";
}

// Steps in which no label counts have none.
void CheckLosses(const nlohmann::json& losses, const nlohmann::json& expected) {
  REQUIRE(losses.size() == expected.size());
  for (size_t step = 0; step < losses.size(); ++step) {
    INFO("step " << step + 1);
    CHECK(losses[step].is_null() == expected[step].is_null());
    if (losses[step].is_null()) continue;
    CHECK(losses[step].get<double>() == Approx(expected[step].get<double>()).epsilon(1e-5));
  }
}

TEST_CASE("losses are those of PyTorch's cross_entropy with ignored labels") {
  for (const nlohmann::json& row : Expected()["cases"]) {
    const std::string folder = ScratchFolder("ignored");
    WriteData(row["labels"].get<std::vector<std::vector<int64_t>>>(), folder);
    // A quarter has 3, 1, 0 and 2 labels that count.
    for (const char* cut : {"--devices 1", "--devices 8", "--devices 2 --micro-batches 4",
                            "--devices 3 --micro-batches 2", "--devices 8 --micro-batches 12"}) {
      INFO(row["flags"] << " " << cut);
      const std::string plan = Partition(row["flags"].get<std::string>() + " " + cut, folder);
      const CommandResult ran = Succeed("yuba run " + plan + " --data " + folder + " --json");
      CheckLosses(nlohmann::json::parse(ran.out)["numbers"]["loss"], row["losses"]);
    }
    CHECK(Succeed("yuba verify " + Model() + " " + folder + "/p.json").out.find("bit for bit") !=
          std::string::npos);
  }
}

TEST_CASE("a step in which no label counts changes nothing, and says so") {
  const std::string folder = ScratchFolder("ignored_step");
  const std::vector<int64_t> none(kBatch, -100);
  WriteData({Expected()["cases"][0]["labels"][0].get<std::vector<int64_t>>(), none}, folder);
  for (const char* flags : {"--clip 1 --devices 2", "--devices 2 --micro-batches 3"}) {
    const std::string plan =
        Partition(std::string("--train adamw --loss softmax-cross-entropy ") + flags, folder);
    const std::string run = "yuba run " + plan + " --data " + folder + " --guard nan --steps ";
    Succeed(run + "1 --save " + folder + "/one");
    const CommandResult two = Succeed(run + "2 --save " + folder + "/two");
    INFO(two.out << two.error);
    CHECK(two.out.find("no label counts, so nothing changes") != std::string::npos);
    CHECK(two.error.find("nan") == std::string::npos);
    const std::string one = TensorsOf(folder + "/one");
    CHECK(one.size() > 4 * 11562);
    CHECK(one == TensorsOf(folder + "/two"));
  }
}

TEST_CASE("a model that has its loss inside is trained by that, with its weight") {
  const nlohmann::json& row = Expected()["inside"];
  const std::string folder = ScratchFolder("ignored_inside");
  const std::string model = RepositoryFile("tests/models/ignored/inside.onnx");
  const auto batch = row["x"].get<std::vector<float>>();
  std::string x, labels;
  for (const nlohmann::json& step : row["labels"]) {
    x += Bytes(batch);
    labels += Bytes(step.get<std::vector<int64_t>>());
  }
  const auto rows = static_cast<int64_t>(row["labels"].size()) * kBatch;
  std::ofstream(folder + "/x.npy", std::ios::binary)
      << FormatNpy({ElementType::kF32, {rows, 6}, x});
  std::ofstream(folder + "/wanted.npy", std::ios::binary)
      << FormatNpy({ElementType::kI64, {rows}, labels});
  for (const char* cut : {"1", "3", "2 --micro-batches 4"}) {
    INFO(cut);
    const std::string plan = folder + "/p.json";
    const CommandResult planned =
        Succeed("yuba partition " + model + " --train adam --lr 0.01 --minimize loss --devices " +
                std::string(cut) + " -o " + plan);
    CHECK(planned.out.find("trained: 2 tensors of 70 elements") != std::string::npos);
    const CommandResult ran =
        Succeed("yuba run " + model + " " + plan + " --data " + folder + " --json");
    CheckLosses(nlohmann::json::parse(ran.out)["numbers"]["loss"], row["losses"]);
  }
}

TEST_CASE("an evaluation is the mean over all labels that count") {
  const std::string folder = ScratchFolder("ignored_evaluation");
  const auto labels = Expected()["labels"].get<std::vector<int64_t>>();
  const std::vector<int64_t> none(kBatch, -100);
  const std::vector<int64_t> first(labels.begin(), labels.begin() + kBatch);
  const std::vector<int64_t> second(labels.begin() + kBatch, labels.end());
  const std::string training = ScratchFolder("ignored_nothing");
  WriteData({none}, training);  // so that the parameters are the file's
  WriteData({first, none, second}, folder);
  for (const char* flags : {"--devices 2", "--devices 3 --micro-batches 4"}) {
    const std::string plan = Partition(
        std::string("--train sgd --loss softmax-cross-entropy --eval-entry 1 ") + flags, folder);
    const CommandResult ran =
        Succeed("yuba run " + plan + " --data " + training + " --eval " + folder + " --json");
    const nlohmann::json losses = nlohmann::json::parse(ran.out)["numbers"]["eval:loss"];
    REQUIRE(losses.size() == 1);
    CHECK(losses[0].get<double>() == Approx(Expected()["evaluation"].get<double>()).epsilon(1e-6));
  }
}

TEST_CASE("a label that is no class in an evaluation is an error that names its batch") {
  const std::string folder = ScratchFolder("ignored_evaluation_error");
  const std::string training = ScratchFolder("ignored_evaluation_training");
  std::vector<int64_t> labels(kBatch, 0);
  WriteData({labels}, training);
  const std::vector<int64_t> right = labels;
  labels[7] = 10;
  WriteData({right, labels, right}, folder);
  for (const auto& [flags, where] : {std::pair("--devices 2", "eval after step 1, batch 2 of 3: "),
                                     std::pair("--devices 2 --micro-batches 3",
                                               "eval after step 1, batch 2 of 3, part 2 of 3: ")}) {
    const std::string plan = Partition(
        std::string("--train sgd --loss softmax-cross-entropy --eval-entry 1 ") + flags, folder);
    const CommandResult ran =
        RunCommand("yuba run " + plan + " --data " + training + " --eval " + folder);
    INFO(ran.error);
    CHECK(ran.exit_code == 2);
    CHECK(ran.error.find(where) != std::string::npos);
  }
}

TEST_CASE("a label that is no class is an error that names its row") {
  const std::string folder = ScratchFolder("ignored_error");
  for (const int64_t odd : {int64_t{-1}, int64_t{10}, int64_t{-101}}) {
    std::vector<int64_t> labels(kBatch, -100);
    labels[7] = odd;
    WriteData({labels}, folder);
    const std::string plan =
        Partition("--train sgd --loss softmax-cross-entropy --devices 3", folder);
    const CommandResult ran = RunCommand("yuba run " + plan + " --data " + folder);
    INFO(ran.error);
    CHECK(ran.exit_code == 2);
    CHECK(ran.error.find("labels holds " + std::to_string(odd) +
                         " at [7], which is no label of 10 classes (0 to 9; -100 is ignored)") !=
          std::string::npos);
    const std::string parts =
        Partition("--train sgd --loss softmax-cross-entropy --micro-batches 3 --devices 2", folder);
    const CommandResult part = RunCommand("yuba run " + parts + " --data " + folder);
    INFO(part.error);
    CHECK(part.exit_code == 2);
    CHECK(part.error.find("part 2 of 3") != std::string::npos);
    CHECK(part.error.find(" at [3], ") != std::string::npos);
  }
}

}  // namespace
}  // namespace yuba
