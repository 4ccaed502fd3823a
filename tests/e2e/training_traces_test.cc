// Every tensor after five steps equals PyTorch's, for every model and optimizer with a trace, on
// several numbers of devices and in several plans. The traces lie beside the checkout.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <vector>

#include "nlohmann/json.hpp"
#include "opsemantics/values/tensor_file.h"
#include "tests/support/command.h"
#include "tests/support/part.h"

namespace yuba {
namespace {

constexpr int kSteps = 5;

struct Floats {
  std::vector<int64_t> dims;
  std::vector<float> values;
};

std::map<std::string, Floats> ReadFloats(const std::string& path) {
  std::map<std::string, Floats> tensors;
  const auto stored = ReadSafetensors(path);
  REQUIRE(stored.ok());
  for (const auto& [name, tensor] : stored->tensors) {
    if (tensor.type != ElementType::kF32) continue;
    const std::string bytes = *ReadRange(tensor.bytes);
    Floats floats{tensor.dims, std::vector<float>(bytes.size() / sizeof(float))};
    std::memcpy(floats.values.data(), bytes.data(), bytes.size());
    tensors[name] = std::move(floats);
  }
  return tensors;
}

// As exporters may store the weight of a linear layer.
Floats Transposed(const Floats& tensor) {
  const int64_t rows = tensor.dims[0], columns = tensor.dims[1];
  Floats result{{columns, rows}, std::vector<float>(tensor.values.size())};
  for (int64_t r = 0; r < rows; ++r) {
    for (int64_t c = 0; c < columns; ++c)
      result.values[c * rows + r] = tensor.values[r * columns + c];
  }
  return result;
}

float Largest(const Floats& tensor) {
  float largest = 0;
  for (const float value : tensor.values) largest = std::max(largest, std::abs(value));
  return largest;
}

// The largest difference as a share of the largest expected value. Where `slack` is above 0,
// elements whose gradient is below 1e-7 of the largest may differ by it: they are rounding noise,
// of which adam makes steps of full length.
double Difference(const Floats& expected, const Floats& actual, const Floats& gradient,
                  double slack) {
  if (expected.dims != actual.dims) return 1e9;
  double difference = 0;
  const float noise = 1e-7f * Largest(gradient);
  for (size_t i = 0; i < expected.values.size(); ++i) {
    double element = std::abs(expected.values[i] - actual.values[i]);
    if (slack > 0 && std::abs(gradient.values[i]) < noise) element = std::max(0.0, element - slack);
    difference = std::max(difference, element);
  }
  return difference / Largest(expected);
}

void CheckTrace(const std::string& name, const std::string& optimizer, const std::string& flags) {
  INFO(name << ", " << optimizer << ", " << flags);
  const std::string folder = TestData() + "/models/" + name;
  std::ifstream stream(folder + "/train.json");
  const nlohmann::json trace = nlohmann::json::parse(stream);
  const nlohmann::json& options = trace["options"][optimizer];
  const double lr = options["lr"];
  const std::string scratch = ScratchFolder("traces"), model = folder + "/model_train.onnx ";
  std::string train = " --train " + optimizer;
  if (optimizer == "adamw") train += ":decay=" + options["weight_decay"].dump();
  Succeed("yuba partition " + model + train + " --loss softmax-cross-entropy --lr " +
          options["lr"].dump() + " -o " + scratch + "/plan.json " + flags);
  const CommandResult ran =
      Succeed("yuba run " + model + scratch + "/plan.json --inputs " + folder +
              "/test_data_set_0 --input labels=" + folder + "/labels.pb --steps " +
              std::to_string(kSteps) + " --json --save " + scratch + "/after.st");
  const nlohmann::json losses = nlohmann::json::parse(ran.out)["numbers"]["loss"];
  for (int step = 0; step < kSteps; ++step) {
    const double expected = trace[optimizer]["losses"][step];
    CHECK(losses[step].get<double>() == Approx(expected).epsilon(1e-4));
  }
  const auto actual = ReadFloats(scratch + "/after.st");
  const auto gradients = ReadFloats(folder + "/gradients.safetensors");
  const bool adam = optimizer == "adam" || optimizer == "adamw";
  for (const auto& [tensor, expected] :
       ReadFloats(folder + "/after_" + optimizer + ".safetensors")) {
    INFO(tensor);
    REQUIRE(actual.count(tensor) == 1);
    const auto difference = [&](const Floats& found) {
      return Difference(expected, found, gradients.at(tensor), adam ? lr * kSteps : 0);
    };
    double least = difference(actual.at(tensor));
    if (expected.dims.size() == 2)
      least = std::min(least, difference(Transposed(actual.at(tensor))));
    CHECK(least <= 1e-3);
  }
}

TEST_CASE("after five steps every tensor is PyTorch's") {
  if (TestData().empty() || !std::filesystem::exists(TestData() + "/models/mlp/train.json")) {
    WARN("skipped: there are no traces of training (YUBA_TEST_DATA)");
    return;
  }
  // Of each model a part of the optimizers and of the plans, of each of these a part of the models.
  const std::vector<std::string> plans = {"--devices 1",
                                          "--devices 3",
                                          "--devices 4 --search recursive",
                                          "--devices 6",
                                          "--devices 8",
                                          "--devices 8 --search data",
                                          "--devices 4 --search zero3",
                                          "--devices 4 --search megatron"};
  const std::vector<std::string> optimizers = {"sgd", "momentum", "adam", "adamw"};
  size_t turn = 0;
  for (const char* name : {"mlp", "conv", "encoder", "gpt", "lstm"}) {
    for (size_t i = 0; i < optimizers.size(); ++i) {
      if (IsTried(i + turn, 2)) CheckTrace(name, optimizers[i], "--devices 2");
    }
    for (size_t i = 0; i < plans.size(); ++i) {
      if (IsTried(i + turn, 4)) CheckTrace(name, "adam", plans[i]);
    }
    ++turn;
  }
}

}  // namespace
}  // namespace yuba
