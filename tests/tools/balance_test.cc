// No device sends or receives much more than another: neither where gradients are scattered into
// their owners, nor where all devices get their sums.
#include <algorithm>
#include <catch2/catch.hpp>
#include <numeric>

#include "nlohmann/json.hpp"
#include "tests/compiler/support/onnx_builder.h"
#include "tests/support/command.h"

namespace yuba::tools {
namespace {

// The most that a device moved in a step, as a share of the mean.
double Share(const nlohmann::json& bytes) {
  const auto by_device = bytes.get<std::vector<double>>();
  const double mean = std::accumulate(by_device.begin(), by_device.end(), 0.0) /
                      static_cast<double>(by_device.size());
  return *std::max_element(by_device.begin(), by_device.end()) / mean;
}

// Plans the model on eight devices, runs a step, and looks at what each device moved.
void CheckBalance(const std::string& model, const std::string& flags, int64_t least_bytes) {
  INFO(flags);
  const std::string plan = ScratchFolder("balance") + "/p.json";
  Succeed("yuba partition " + model + " --devices 8 " + flags + " -o " + plan);
  const nlohmann::json run =
      nlohmann::json::parse(Succeed("yuba run " + model + " " + plan + " --random --json").out);
  CHECK(run["bytes"] >= least_bytes);
  CHECK(Share(run["bytes_in"]) < 1.25);
  CHECK(Share(run["bytes_out"]) < 1.25);
}

TEST_CASE("in an all-reduce and a reduce-scatter eight devices send and receive alike") {
  compiler::OnnxBuilder builder;
  builder.Input("x", {16, 64});
  builder.Weight("w", {64, 32});
  builder.Node("MatMul", {"x", "w"}, {"y"});
  builder.Output("y");
  const std::string model = builder.Save();
  const int64_t bytes = int64_t{16} * 32 * 4;  // of y
  const std::string cut_by_terms = "--replicate auto --pin y/q=abc --pin ";
  CheckBalance(model, cut_by_terms + "'y=[16, 32]'", 2 * 7 * bytes);
  CheckBalance(model, cut_by_terms + "'y=[16, 32/abc]'", 7 * bytes);
}

TEST_CASE("in training eight devices send and receive alike") {
  const std::string model = ScratchFolder("balanced") + "/mlp.onnx";
  Succeed("yuba zoo mlp --batch 64 --width 256 --layers 2 --classes 16 -o " + model);
  const int64_t weight = int64_t{256} * 256 * 4;
  for (const char* search : {"data", "zero3"}) {
    CheckBalance(
        model, "--train sgd --lr 0.1 --loss softmax-cross-entropy --search " + std::string(search),
        7 * weight);
  }
}

}  // namespace
}  // namespace yuba::tools
