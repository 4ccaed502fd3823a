// `yuba run --data`: a batch a step, from arrays of examples and from folders.
#include <catch2/catch.hpp>
#include <fstream>
#include <string>
#include <vector>

#include "nlohmann/json.hpp"
#include "opsemantics/values/tensor_file.h"
#include "tests/support/command.h"
#include "tests/support/status_matchers.h"

namespace yuba {
namespace {

constexpr int kBatch = 12, kExamples = 40;  // three batches, and four examples more

void Write(const std::string& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary) << bytes;
}

TensorData RowsOf(const TensorData& all, int64_t begin, int64_t count) {
  const auto size = static_cast<int64_t>(all.data.size()) / all.dims[0];
  TensorData rows{all.type, all.dims, all.data.substr(begin * size, count * size)};
  rows.dims[0] = count;
  return rows;
}

// A training step of mlp, and the same examples as arrays and as folders of batches.
struct Training {
  explicit Training(const std::string& name)
      : folder(ScratchFolder("data_" + name)),
        model(RepositoryFile("tests/models/mlp/model.onnx")),
        x{ElementType::kF32, {kExamples, 48}, ""},
        labels{ElementType::kI64, {kExamples}, ""} {
    for (int i = 0; i < kExamples * 48; ++i) {
      const float value = static_cast<float>(i * 37 % 101) / 50 - 1;
      x.data.append(reinterpret_cast<const char*>(&value), sizeof value);
    }
    for (int64_t i = 0; i < kExamples; ++i) {
      const int64_t label = i * 7 % 10;
      labels.data.append(reinterpret_cast<const char*>(&label), sizeof label);
    }
    Succeed("mkdir " + folder + "/arrays " + folder + "/folders");
    Write(folder + "/arrays/x.npy", FormatNpy(x));
    Write(folder + "/arrays/labels.npy", FormatNpy(labels));
    for (int step = 0; step < kExamples / kBatch; ++step) {
      const std::string set = folder + "/folders/test_data_set_" + std::to_string(step);
      Succeed("mkdir " + set);
      Write(set + "/input_0.npy", FormatNpy(RowsOf(x, step * kBatch, kBatch)));
      Write(set + "/input_1.npy", FormatNpy(RowsOf(labels, step * kBatch, kBatch)));
    }
    Plan("3");
  }

  void Plan(const std::string& devices) const {
    Succeed("yuba partition " + model + " --train sgd --loss softmax-cross-entropy --lr 0.1 " +
            "--devices " + devices + " -o " + folder + "/p.json");
  }
  std::string Command(const std::string& flags) const {
    return "yuba run " + model + " " + folder + "/p.json " + flags;
  }
  nlohmann::json Losses(const std::string& flags) const {
    return nlohmann::json::parse(Succeed(Command(flags + " --json")).out)["numbers"]["loss"];
  }

  std::string folder, model;
  TensorData x, labels;
};

TEST_CASE("arrays of examples give the batches that folders with the same rows give") {
  const Training training("same");
  const std::string arrays = "--data " + training.folder + "/arrays",
                    folders = training.folder + "/folders";
  const nlohmann::json losses = training.Losses(arrays);
  REQUIRE(losses.size() == 3);  // an epoch; the last four examples fill no batch
  CHECK(losses == training.Losses("--inputs " + folders));
  CHECK(losses == training.Losses("--data " + folders));
  REQUIRE_THAT(
      WriteSafetensors(
          training.folder + "/all.safetensors",
          {{"labels", training.labels.type, training.labels.dims, [&] { return training.labels; }},
           {"x", training.x.type, training.x.dims, [&] { return training.x; }}}),
      IsOk());
  CHECK(losses == training.Losses("--data " + training.folder + "/all.safetensors"));
  // More steps than batches begin another epoch, with what training has learned.
  const nlohmann::json more = training.Losses(arrays + " --steps 5"),
                       twice = training.Losses("--data " + folders + " --epochs 2");
  REQUIRE(more.size() == 5);
  REQUIRE(twice.size() == 6);
  for (int step = 0; step < 5; ++step) CHECK(more[step] == twice[step]);
  CHECK(more[3] != more[0]);
  const std::string said = Succeed(training.Command(arrays)).out;
  CHECK(said.find("40 examples of x, labels in ") != std::string::npos);
  CHECK(said.find("3 batches of 12 an epoch; the last 4 of each epoch") != std::string::npos);
}

TEST_CASE("a seed's order does not depend on the devices") {
  const Training training("shuffled");
  const std::string shuffled = "--data " + training.folder + "/arrays --epochs 2 --shuffle ";
  const nlohmann::json three = training.Losses(shuffled + "5");
  CHECK(three == training.Losses(shuffled + "5"));
  CHECK(three != training.Losses(shuffled + "6"));
  const nlohmann::json folders =
      training.Losses("--shuffle 1 --data " + training.folder + "/folders");
  CHECK(folders.size() == 3);
  CHECK(folders != training.Losses("--data " + training.folder + "/folders"));
  training.Plan("1");
  const nlohmann::json one = training.Losses(shuffled + "5");
  REQUIRE(one.size() == three.size());
  for (size_t step = 0; step < one.size(); ++step) {
    CHECK(one[step].get<double>() == Approx(three[step].get<double>()).epsilon(1e-5));
  }
}

TEST_CASE("data that does not fit is refused by file and input") {
  const Training training("refused");
  const std::string arrays = training.folder + "/arrays";
  const auto refuses = [&](const std::string& flags, const std::vector<std::string>& messages) {
    const CommandResult ran = RunCommand(training.Command(flags));
    INFO(flags << "\n" << ran.error);
    CHECK(ran.exit_code == 2);
    for (const std::string& message : messages) {
      CHECK(ran.error.find(message) != std::string::npos);
    }
  };
  refuses("--data nowhere", {"--data", "nowhere"});
  refuses("--shuffle 1", {"--shuffle requires --data"});
  refuses("--data " + arrays + " --inputs " + arrays, {"--inputs excludes --data"});
  refuses("--data " + arrays + " --steps 2 --epochs 2", {"2 steps are asked for too"});
  refuses("--data " + arrays + "/x.npy",
          {"has no values of the input labels, i64[12]: it has x; add labels.npy"});
  refuses("--data " + training.model, {"is no folder, and its name does not end in .npy"});
  const std::string third = training.folder + "/folders/test_data_set_2/input_1.npy";
  Write(third, FormatNpy(RowsOf(training.labels, 0, 6)));
  refuses("--data " + training.folder + "/folders",  // in the third step
          {third + ": labels has shape [6], the program was made for [12]"});
  Write(arrays + "/labels.npy", FormatNpy(RowsOf(training.labels, 0, 39)));
  refuses("--data " + arrays, {"labels.npy: has 39 examples of labels", "x.npy has 40 of x"});
  Write(arrays + "/labels.npy", FormatNpy(training.labels).substr(0, 300));
  refuses("--data " + arrays, {"labels.npy: the .npy file has 172 bytes of data"});
  Write(arrays + "/labels.npy", FormatNpy({ElementType::kF32, {40}, std::string(160, '\0')}));
  refuses("--data " + arrays, {"labels.npy: has f32[40] for the input labels", "i64[N] is wanted"});
}

}  // namespace
}  // namespace yuba
