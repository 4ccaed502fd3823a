// Steps in micro-batches have the losses of the whole batch, wherever the batch is; examples of
// data are taken along it.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <fstream>
#include <functional>
#include <numeric>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "nlohmann/json.hpp"
#include "opsemantics/values/tensor_file.h"
#include "tests/compiler/support/onnx_builder.h"
#include "tests/support/command.h"

namespace yuba {
namespace {

using compiler::OnnxBuilder;
using Dims = std::vector<int64_t>;

// Writes DIR/NAME.npy: numbers between -1 and 1, or classes below `classes`.
void WriteValues(const std::string& file, const Dims& dims, int64_t classes = 0) {
  const int64_t count =
      std::accumulate(dims.begin(), dims.end(), int64_t{1}, std::multiplies<int64_t>());
  std::string bytes;
  for (int64_t i = 0; i < count; ++i) {
    const float number = std::sin(static_cast<float>(i * i % 97 + i));
    const int64_t label = (i * 7 + i / 3) % std::max<int64_t>(classes, 1);
    if (classes > 0) bytes.append(reinterpret_cast<const char*>(&label), sizeof label);
    if (classes == 0) bytes.append(reinterpret_cast<const char*>(&number), sizeof number);
  }
  const ElementType type = classes > 0 ? ElementType::kI64 : ElementType::kF32;
  std::ofstream(file, std::ios::binary) << FormatNpy({type, dims, bytes});
}

struct Trained {
  std::string model, folder, inputs;  // `inputs` are flags of yuba run

  std::vector<double> Losses(const std::string& flags) const {
    const std::string plan = folder + "/plan.json";
    Succeed("yuba partition " + model + " --train sgd --lr 0.1 " + flags + " -o " + plan);
    const CommandResult verified = Succeed("yuba verify " + model + " " + plan);
    CHECK(verified.out.find("bit for bit") != std::string::npos);
    const CommandResult ran =
        Succeed("yuba run " + model + " " + plan + " --steps 3 --json " + inputs);
    return nlohmann::json::parse(ran.out)["numbers"]["loss"].get<std::vector<double>>();
  }

  // Whether steps in so many parts have the losses of steps in one: on one device where they are in
  // the first of `parts`, else on three.
  void Check(const std::string& flags, const std::vector<int>& parts) const {
    const std::vector<double> whole = Losses(flags + " --devices 1");
    REQUIRE(whole.size() == 3);
    CHECK(whole[2] != whole[0]);
    int devices = 1;
    for (const int in : parts) {
      const std::string cut = absl::StrCat(flags, " --micro-batches ", in, " --devices ", devices);
      INFO(cut);
      const std::vector<double> losses = Losses(cut);
      REQUIRE(losses.size() == 3);
      for (size_t step = 0; step < 3; ++step)
        CHECK(losses[step] == Approx(whole[step]).epsilon(1e-5));
      devices = 3;
    }
  }
};

// An LSTM over x [4 steps, 6 examples, 3].
OnnxBuilder Recurrent() {
  OnnxBuilder builder;
  builder.Input("x", {4, 6, 3});
  builder.Weight("w", {1, 20, 3});
  builder.Weight("r", {1, 20, 5});
  ::onnx::GraphProto& graph = *builder.proto().mutable_graph();
  for (::onnx::TensorProto& weight : *graph.mutable_initializer()) {
    for (float& element : *weight.mutable_float_data()) element = std::sin(element * 7) * 0.4f;
  }
  compiler::SetInt(builder.Node("LSTM", {"x", "w", "r"}, {"all"}), "hidden_size", 5);
  builder.Integers("direction", {1});
  builder.Node("Squeeze", {"all", "direction"}, {"y"});
  builder.Output("y");
  return builder;
}

TEST_CASE("a batch behind the steps of a recurrence is cut, not the steps") {
  const std::string folder = ScratchFolder("recurrent");
  WriteValues(folder + "/x.npy", {4, 6, 3});
  WriteValues(folder + "/labels.npy", {4, 6, 5});
  const Trained model = {Recurrent().Save(), folder,
                         "--input x=" + folder + "/x.npy --input labels=" + folder + "/labels.npy"};
  model.Check("--loss mse", {2, 6});
  const CommandResult said =
      Succeed("yuba partition " + model.model +
              " --train sgd --loss mse --micro-batches 2 --devices 2 -o " + folder + "/p.json");
  CHECK(said.out.find("batch: dimension 1 of x and labels, ") != std::string::npos);
  CHECK(said.out.find("6 examples a step, in 2 parts of 3") != std::string::npos);
  CHECK(said.out.find("x: f32[4, 6, 3]") != std::string::npos);  // of a whole step
}

TEST_CASE(
    "checkpoints of steps in parts have all weights, whatever these are called, and only them") {
  const std::string folder = ScratchFolder("names");
  WriteValues(folder + "/x.npy", {4, 3});
  WriteValues(folder + "/labels.npy", {4}, 5);
  OnnxBuilder builder;
  builder.Input("x", {4, 3});
  builder.Weight("w.gradient", {3, 6});
  builder.Weight("v", {6, 5});
  builder.Node("MatMul", {"x", "w.gradient"}, {"h"});
  builder.Node("MatMul", {"h", "v"}, {"y"});
  builder.Output("y");
  const std::string model = builder.Save(), plan = folder + "/p.json";
  Succeed("yuba partition " + model + " --train sgd --loss softmax-cross-entropy --micro-batches " +
          "2 --devices 2 -o " + plan);
  const auto losses = [&](const std::string& flags) {
    const CommandResult ran = Succeed("cd " + folder + " && yuba run " + model + " " + plan +
                                      " --input x=x.npy --input labels=labels.npy --json " + flags);
    return nlohmann::json::parse(ran.out)["numbers"]["loss"].get<std::vector<double>>();
  };
  const std::vector<double> whole = losses("--steps 4");
  losses("--steps 2 --save c.st");
  const auto saved = ReadSafetensors(folder + "/c.st");
  REQUIRE(saved.ok());
  std::vector<std::string> names;
  for (const auto& [name, tensor] : saved->tensors) names.push_back(name);
  CHECK(names == std::vector<std::string>{"v", "w.gradient"});
  CHECK(losses("--steps 4 --resume c.st") == std::vector<double>(whole.begin() + 2, whole.end()));
}

TEST_CASE("examples of data are taken along the batch, wherever it is") {
  const std::string folder = ScratchFolder("along");
  WriteValues(folder + "/x.npy", {4, 6, 3});
  WriteValues(folder + "/labels.npy", {4, 6, 5});
  const Trained whole = {Recurrent().Save(), folder,
                         "--input x=" + folder + "/x.npy --input labels=" + folder + "/labels.npy"};
  const Trained data = {whole.model, folder, "--data " + folder};
  const std::vector<double> expected = whole.Losses("--loss mse --devices 2");
  CHECK(data.Losses("--loss mse --devices 2") == expected);
  const std::vector<double> parts = data.Losses("--loss mse --devices 2 --micro-batches 3");
  REQUIRE(parts.size() == 3);
  for (size_t step = 0; step < 3; ++step)
    CHECK(parts[step] == Approx(expected[step]).epsilon(1e-5));
}

TEST_CASE("models of the zoo with the batch written in are cut too") {
  const std::string folder = ScratchFolder("zoo");
  Succeed("yuba zoo rnn --layers 2 --width 4 --sequence 3 --inputs 5 --classes 3 --batch 4 -o " +
          folder + "/rnn.onnx");
  WriteValues(folder + "/x.npy", {4, 3, 5});
  WriteValues(folder + "/labels.npy", {4, 3}, 3);
  const Trained rnn = {folder + "/rnn.onnx", folder,
                       "--input x=" + folder + "/x.npy --input labels=" + folder + "/labels.npy"};
  rnn.Check("--loss softmax-cross-entropy", {2, 4});
  Succeed(
      "yuba zoo vit --layers 1 --width 16 --heads 2 --image 8 --patch 4 --classes 5 --batch 4 -o " +
      folder + "/vit.onnx");
  WriteValues(folder + "/image.npy", {4, 3, 8, 8});
  WriteValues(folder + "/classes.npy", {4}, 5);
  const Trained vit = {
      folder + "/vit.onnx", folder,
      "--input image=" + folder + "/image.npy --input labels=" + folder + "/classes.npy"};
  vit.Check("--loss softmax-cross-entropy", {2, 4});
}

TEST_CASE("what a figure is of is said: a step, or all runs of all entries") {
  const std::string folder = ScratchFolder("figures"), model = folder + "/mlp.onnx";
  Succeed("yuba zoo mlp --width 32 --batch 8 --classes 4 --layers 2 -o " + model);
  const std::string train =
      "yuba partition " + model + " --devices 4 --train sgd --loss softmax-cross-entropy";
  const std::string whole = Succeed(train + " -o " + folder + "/w.json").out;
  const std::string parts = Succeed(train + " --micro-batches 4 -o " + folder + "/m.json").out;
  Succeed(train + " --eval-entry 10 -o " + folder + "/e.json");
  // Exactly: 8 examples' work, for each part one addition for each gradient and little else, and
  // one update, which is a quotient, a product and a difference for each weight.
  const auto work = [&](const std::string& flags) {
    const std::string info = "yuba info " + model + " --train sgd --loss softmax-cross-entropy ";
    return nlohmann::json::parse(Succeed(info + flags + " --json").out)["flops"].get<int64_t>();
  };
  const int64_t weights = 32 * 32 + 32 + 32 * 4 + 4;
  const int64_t eight = 2 * (work("--batch 8") - work("--batch 4"));
  const int64_t four_parts = work("--micro-batches 4"), two_parts = work("--micro-batches 2");
  const int64_t part = (four_parts - two_parts) / 2, update = four_parts - eight - 4 * part;
  CHECK((four_parts - two_parts) % 2 == 0);
  CHECK(part >= weights);
  CHECK(part <= weights + 4);
  CHECK(update > 2 * weights);
  CHECK(update <= 3 * weights);
  CHECK(whole.find("; 42.5 kFLOP a step") != std::string::npos);  // 42514
  CHECK(parts.find("; 48.5 kFLOP a step") != std::string::npos);  // 48456
  CHECK(parts.find("x: f32[8, 32]") != std::string::npos);
  for (const char* plan : {"/e.json", "/m.json"}) {
    const std::string shown = Succeed("yuba show " + folder + plan).out;
    CHECK(shown.find(" in all, ") != std::string::npos);
    CHECK(shown.find("B a step") == std::string::npos);
    const std::string checked = Succeed("yuba check " + model + " " + folder + plan).out;
    CHECK(checked.find("bytes) in all, as it says") != std::string::npos);
  }
  const std::string shown = Succeed("yuba show " + folder + "/e.json").out;
  CHECK(shown.find("eval ") != std::string::npos);
  CHECK(shown.find("step 10 times ") != std::string::npos);
  CHECK(Succeed("yuba show " + folder + "/w.json").out.find(" a step, ") != std::string::npos);
}

TEST_CASE("bench search plans what partition plans") {
  const std::string folder = ScratchFolder("bench");
  const std::string model = RepositoryFile("tests/models/encoder/model.onnx");
  Succeed("yuba partition " + model + " --devices 4 -o " + folder + "/p.json");
  const CommandResult bench =
      Succeed("yuba-bench search " + model + " --devices 4 --search default --repeat 1 --json");
  const auto planned = nlohmann::json::parse(std::ifstream(folder + "/p.json"));
  CHECK(nlohmann::json::parse(bench.out)["runs"][0]["bytes"] == planned["cost"]["bytes"]);
}

}  // namespace
}  // namespace yuba
