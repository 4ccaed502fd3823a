// What a training step measures beside its loss: the share of right answers, over labels that
// count, however the batch and the step are cut.
#include <catch2/catch.hpp>
#include <cstdint>
#include <fstream>
#include <string>
#include <vector>

#include "nlohmann/json.hpp"
#include "opsemantics/values/tensor_file.h"
#include "tests/compiler/support/onnx_builder.h"
#include "tests/support/command.h"

namespace yuba {
namespace {

constexpr int64_t kBatch = 12, kClasses = 10;

std::string Model() { return RepositoryFile("tests/models/mlp/model.onnx"); }
std::string Data() { return RepositoryFile("tests/models/mlp/test_data_set_0"); }

// The class that the model gives each example, before any step.
std::vector<int64_t> Answers() {
  const auto output = ReadTensorFile(Data() + "/output_0.pb");
  REQUIRE(output.ok());
  REQUIRE(output->dims == std::vector<int64_t>{kBatch, kClasses});
  std::vector<int64_t> answers;
  for (int64_t row = 0; row < kBatch; ++row) {
    int64_t best = 0;
    for (int64_t c = 1; c < kClasses; ++c) {
      if (ValueAt(*output, row * kClasses + c) > ValueAt(*output, row * kClasses + best)) best = c;
    }
    answers.push_back(best);
  }
  return answers;
}

// Labels of which nine count and six are the model's answers.
std::string WriteLabels(const std::string& folder) {
  std::vector<int64_t> labels = Answers();
  for (int64_t row = 0; row < 6; row += 2) labels[row] = -100;
  for (int64_t row = 9; row < kBatch; ++row) labels[row] = (labels[row] + 1) % kClasses;
  std::ofstream(folder + "/labels.npy", std::ios::binary)
      << FormatNpy({ElementType::kI64,
                    {kBatch},
                    {reinterpret_cast<const char*>(labels.data()), labels.size() * 8}});
  return folder + "/labels.npy";
}

constexpr char kTrained[] = " --train sgd --loss softmax-cross-entropy --metrics accuracy";

TEST_CASE("accuracy is the share of right answers among labels that count") {
  const std::string folder = ScratchFolder("metrics"), labels = WriteLabels(folder);
  const std::string inputs = " --inputs " + Data() + " --input labels=" + labels;
  for (const char* cut : {"1", "3", "8", "2 --micro-batches 4", "3 --precision bf16"}) {
    INFO(cut);
    Succeed("yuba partition " + Model() + kTrained + " --devices " + cut + " -o " + folder +
            "/p.json");
    const std::string run = Model() + " " + folder + "/p.json" + inputs + " --steps 2";
    const CommandResult ran = Succeed("yuba run " + run + " --json");
    const nlohmann::json numbers = nlohmann::json::parse(ran.out)["numbers"];
    CHECK(numbers["accuracy"][0].get<double>() == Approx(6.0 / 9));
    CHECK(numbers["accuracy"].size() == 2);
    const CommandResult lines = Succeed("yuba run " + run + " --log " + folder + "/log.csv");
    CHECK(lines.out.find("  accuracy 0.6666667") != std::string::npos);
    CHECK(lines.out.find("weight") == std::string::npos);
  }
  std::ifstream log(folder + "/log.csv");
  std::string header;
  std::getline(log, header);
  CHECK(header.find("loss,loss_weight,accuracy,accuracy_weight,") != std::string::npos);
}

TEST_CASE("an evaluation measures it too, over all of its batches") {
  const std::string folder = ScratchFolder("metrics_eval"), labels = WriteLabels(folder);
  Succeed("yuba partition " + Model() + kTrained + " --eval-entry 1 --lr 1e-9 --devices 2 -o " +
          folder + "/p.json");
  const std::string batches = RepositoryFile("tests/models/mlp");
  const std::string inputs =
      " --data " + batches + " --eval " + batches + " --steps 1 --input labels=" + labels;
  const CommandResult ran =
      Succeed("yuba run " + Model() + " " + folder + "/p.json" + inputs + " --json");
  const nlohmann::json numbers = nlohmann::json::parse(ran.out)["numbers"];
  CHECK(numbers["eval:accuracy"][0].get<double>() == Approx(6.0 / 9));
  Succeed("yuba compile " + Model() + " " + folder + "/p.json -o " + folder + "/p.yuba");
  const CommandResult compiled = Succeed("yuba-run " + folder + "/p.yuba" + inputs);
  CHECK(compiled.out.find("eval:accuracy 0.6666667") != std::string::npos);
}

TEST_CASE("a metric that nobody can measure is an error that says why") {
  const auto error = [](const std::string& flags) {
    const CommandResult made =
        RunCommand("yuba partition " + Model() + " --devices 2 --train sgd " + flags);
    CHECK(made.exit_code == 2);
    return made.error;
  };
  const std::string loss = "--loss softmax-cross-entropy --metrics ";
  CHECK(error(loss + "recall")
            .find("--metrics recall: there is no description of that name; "
                  "there are accuracy, ") != std::string::npos);
  CHECK(error(loss + "accuracy,accuracy").find("accuracy: it is named twice") != std::string::npos);
  CHECK(error(loss + "relu").find("relu measures nothing") != std::string::npos);
  CHECK(error("--loss mse --metrics accuracy").find("labels of another type or shape") !=
        std::string::npos);
  CHECK(error("--loss accuracy").find("accuracy is no loss") != std::string::npos);
}

TEST_CASE("outputs of a model that does not train are no weights, whatever their names") {
  compiler::OnnxBuilder builder;
  builder.Input("x", {3});
  builder.Weight("none", {1});
  ::onnx::TensorProto& none = *builder.proto().mutable_graph()->mutable_initializer(0);
  none.clear_float_data();
  none.clear_raw_data();
  none.add_float_data(0);
  compiler::SetInt(builder.Node("ReduceSum", {"x"}, {"loss"}), "keepdims", 0);
  builder.Node("Mul", {"x", "none"}, {"zeros"});
  compiler::SetInt(builder.Node("ReduceSum", {"zeros"}, {"loss_weight"}), "keepdims", 0);
  builder.Output("loss");
  builder.Output("loss_weight");
  const std::string folder = ScratchFolder("metrics_names"), model = builder.Save();
  const std::vector<float> x = {1, 2, 3};
  std::ofstream(folder + "/x.npy", std::ios::binary)
      << FormatNpy({ElementType::kF32, {3}, {reinterpret_cast<const char*>(x.data()), 12}});
  Succeed("yuba partition " + model + " --devices 2 -o " + folder + "/p.json");
  const CommandResult ran =
      Succeed("yuba run " + model + " " + folder + "/p.json --input x=" + folder + "/x.npy");
  INFO(ran.out);
  CHECK(ran.out.find("loss 6") != std::string::npos);
  CHECK(ran.out.find("no label counts") == std::string::npos);
}

}  // namespace
}  // namespace yuba
