// Names that Yuba makes are nobody else's: plans say by names which tensor, node and index is
// meant, so a plan that was written is a plan that can be checked, verified and run.
#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <set>
#include <string>

#include "nlohmann/json.hpp"
#include "tests/compiler/support/onnx_builder.h"
#include "tests/support/command.h"

namespace yuba {
namespace {

std::string Saved(const compiler::OnnxBuilder& builder, const std::string& folder) {
  const std::string file = folder + "/model.onnx";
  std::filesystem::rename(builder.Save(), file);
  return file;
}

// Whether all tensors have different names, and all nodes.
void CheckDistinct(const std::string& plan) {
  std::ifstream stream(plan);
  const nlohmann::json file = nlohmann::json::parse(stream);
  std::set<std::string> tensors, nodes;
  for (const auto& row : file["tensors"]) {
    INFO(row["name"]);
    CHECK(tensors.insert(row["name"].get<std::string>()).second);
  }
  for (const auto& row : file["nodes"]) {
    INFO(row["name"]);
    CHECK(nodes.insert(row["name"].get<std::string>()).second);
    CHECK(tensors.count(row.value("writes", row["name"].get<std::string>())) == 1);
  }
}

// `operators`: the flag that names descriptions of one's own, which plans do not remember.
void TrainOn(const std::string& model, const std::string& flags,
             const std::string& operators = "") {
  INFO(flags);
  const std::string plan = model + ".plan.json";
  Succeed("yuba partition " + model + " --train sgd --loss mse --lr 0.1 " + flags + operators +
          " -o " + plan);
  Succeed("yuba check " + model + " " + plan + operators);
  Succeed("yuba verify " + model + " " + plan + operators);
  CheckDistinct(plan);
}

TEST_CASE("plans of gradients of windows along a dimension before a pack can be used") {
  compiler::OnnxBuilder builder;
  builder.Input("x", {1, 5, 1, 8});
  builder.Weight("w", {1, 5, 1, 8});
  builder.Node("Mul", {"x", "w"}, {"h"});
  compiler::SetInt(builder.Node("LRN", {"h"}, {"y"}), "size", 3);
  builder.Output("y");
  const std::string model = Saved(builder, ScratchFolder("made_names_lrn"));
  for (const char* flags :
       {"--devices 1", "--devices 2", "--devices 3", "--devices 8",
        "--mesh a=2 --pin 'w=[-, -, -, a]'", "--mesh a=2 --pin 'w=[-, a, -, -]'"})
    TrainOn(model, flags);
}

TEST_CASE("a description may call its indices what gradients call theirs") {
  const std::string folder = ScratchFolder("made_names_indices");
  std::ofstream(folder + "/mine.tdl") << "op smooth(x[c, h..]; width) -> y[c, h..]\n"
                                         "  y[a, q..] = sum(u: width) (x[a + u - 1, q..] else 0)\n";
  compiler::OnnxBuilder builder;
  builder.Input("x", {6, 4, 3});
  builder.Weight("w", {6, 4, 3});
  builder.Node("Mul", {"x", "w"}, {"h"});
  ::onnx::NodeProto& node = builder.Node("smooth", {"h"}, {"y"});
  node.set_domain("example.org");
  compiler::SetInt(node, "width", 3);
  builder.Output("y");
  const std::string model = Saved(builder, folder);
  for (const char* devices : {"1", "2", "3", "8"}) {
    TrainOn(model, "--devices " + std::string(devices), " --operators " + folder + "/mine.tdl");
  }
}

// Tensors of the model have the names that a training step makes of others.
TEST_CASE("a model may call its tensors what training steps call theirs") {
  compiler::OnnxBuilder builder;
  builder.Input("x", {8, 6});
  builder.Weight("v", {6, 6});
  builder.Weight("w", {6, 6});
  builder.Node("MatMul", {"x", "w"}, {"grad(v)"});
  builder.Node("Sin", {"grad(v)"}, {"v/v'"});
  builder.Node("MatMul", {"v/v'", "v"}, {"squares(grad(w))"});
  builder.Node("Sigmoid", {"squares(grad(w))"}, {"w/w'"});
  builder.Node("MatMul", {"w/w'", "w"}, {"copy(w)"});
  builder.Node("Tanh", {"copy(w)"}, {"w.bf16"});
  builder.Node("MatMul", {"w.bf16", "v"}, {"grad(w)"});
  builder.Node("Add", {"grad(w)", "x"}, {"clipped(grad(v))"});
  builder.Output("clipped(grad(v))");
  const std::string model = Saved(builder, ScratchFolder("made_names_training"));
  for (const char* devices : {"1", "2", "3", "8"}) {
    const std::string on = "--devices " + std::string(devices);
    TrainOn(model, on);
    TrainOn(model, on + " --clip 1 --micro-batches 2");
    TrainOn(model, on + " --precision bf16");
  }
}

}  // namespace
}  // namespace yuba
