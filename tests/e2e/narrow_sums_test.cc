// Sums of f16 and bf16 that several devices own: partials move as f32, what they add up to as it is
// stored. `yuba run` refuses a run whose bytes are not the plan's.
#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "nlohmann/json.hpp"
#include "tests/compiler/support/onnx_builder.h"
#include "tests/support/command.h"

namespace yuba {
namespace {

using compiler::OnnxBuilder;
using compiler::SetInt;

std::string Saved(const OnnxBuilder& builder, const std::string& name) {
  const std::string file = ScratchFolder("narrow_sums_" + name) + "/model.onnx";
  std::filesystem::rename(builder.Save(), file);
  return file;
}

// y is the sum of x over its first dimension, or over all where `dims` has one.
std::string Sum(const std::vector<int64_t>& dims, int type) {
  OnnxBuilder builder(18);
  builder.Input("x", dims, type);
  builder.Integers("axes", {0});
  SetInt(builder.Node("ReduceSum", {"x", "axes"}, {"y"}), "keepdims", 0);
  builder.Output("y");
  return Saved(builder, "sum");
}

std::string Product(int type) {
  OnnxBuilder builder;
  builder.Input("x", {4, 48}, type);
  builder.Input("w", {48, 6}, type);
  builder.Node("MatMul", {"x", "w"}, {"y"});
  builder.Output("y");
  return Saved(builder, "product");
}

// The bytes that a plan says it moves in a step; it is checked, verified and run.
int64_t MovedBytes(const std::string& model, const std::string& options) {
  INFO(options);
  const std::string plan = model + ".json";
  Succeed("yuba partition " + model + " -o " + plan + " " + options);
  Succeed("yuba check " + model + " " + plan);
  Succeed("yuba verify " + model + " " + plan);
  Succeed("yuba run " + model + " " + plan + " --random");
  std::ifstream file(plan);
  return nlohmann::json::parse(file)["cost"]["bytes"].get<int64_t>();
}

TEST_CASE("a scalar's partials move as f32, its copies as they are stored") {
  constexpr int kF32 = ::onnx::TensorProto::FLOAT, kF16 = ::onnx::TensorProto::FLOAT16,
                kBF16 = ::onnx::TensorProto::BFLOAT16;
  for (const int type : {kF16, kBF16}) {
    CHECK(MovedBytes(Sum({8}, type), "--devices 2") == 6);
    CHECK(MovedBytes(Sum({8}, type), "--devices 3") == 12);
    CHECK(MovedBytes(Sum({8}, type), "--devices 8") == 42);
  }
  CHECK(MovedBytes(Sum({8}, kF32), "--devices 8") == 56);
}

TEST_CASE("sums that pins replicate move what their plans say") {
  const std::string pinned = " --replicate auto --pin 'y=[-, -]' --pin y/q=d";
  for (const int type : {::onnx::TensorProto::FLOAT16, ::onnx::TensorProto::BFLOAT16}) {
    // Of y [4, 6] each of k devices has a partial: 24 (k - 1) elements of 4 bytes, and as many
    // of 2.
    CHECK(MovedBytes(Product(type), "--mesh d=2" + pinned) == 144);
    CHECK(MovedBytes(Product(type), "--mesh d=3" + pinned) == 288);
    CHECK(MovedBytes(Product(type), "--mesh d=8" + pinned) == 1008);
    MovedBytes(Sum({24, 3}, type), "--devices 8 --replicate auto --pin 'y=[-]' --pin 'x=[*, -]'");
    // Two or four of the devices own the same rows or columns.
    for (const char* mesh : {"a=2,b=4", "a=4,b=2", "a=3,b=2"}) {
      const std::string on = std::string("--mesh ") + mesh + " --replicate auto";
      MovedBytes(Product(type), on + " --pin 'y=[a, -]' --pin y/q=b");
      MovedBytes(Product(type), on + " --pin 'y=[-, b]' --pin y/q=a");
    }
  }
}

TEST_CASE("training steps whose gradients are replicated sums of bf16 move what plans say") {
  OnnxBuilder builder;
  builder.Input("x", {12, 5});
  builder.Weight("w", {5, 6});
  builder.Weight("v", {6, 3});
  builder.Node("MatMul", {"x", "w"}, {"h"});
  builder.Node("Relu", {"h"}, {"r"});
  builder.Node("MatMul", {"r", "v"}, {"logits"});
  builder.Output("logits");
  const std::string model = Saved(builder, "training");
  const std::string train =
      "--train sgd --loss softmax-cross-entropy --precision bf16 --replicate auto --mesh d=";
  for (const char* devices : {"2", "3", "8"}) {
    const std::string on = train + devices;
    MovedBytes(model, on);
    MovedBytes(model, on + " --pin 'grad(w.bf16)=[-, -]' --pin 'grad(w.bf16)/r=d'");
    MovedBytes(model, on + " --pin 'w=[-, -]' --pin 'v=[-, -]' --pin batch=d");
  }
}

}  // namespace
}  // namespace yuba
