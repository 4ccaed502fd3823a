// Models as PyTorch exports them (tests/models/exported) train as in PyTorch, from files of both of
// its exporters, and take PyTorch's own files of values; what an export has lost is an error.
#include <catch2/catch.hpp>
#include <cmath>
#include <fstream>
#include <string>
#include <vector>

#include "nlohmann/json.hpp"
#include "opsemantics/values/tensor_file.h"
#include "tests/support/command.h"

namespace yuba {
namespace {

std::string Folder(const std::string& name) {
  return RepositoryFile("tests/models/exported/" + name);
}

std::vector<double> LossesOf(const std::string& folder) {
  std::ifstream file(folder + "/losses.txt");
  std::vector<double> losses;
  for (double loss = 0; file >> loss;) losses.push_back(loss);
  return losses;
}

// Plans a training step for so many devices with these flags, and returns what that printed.
CommandResult Plan(const std::string& model, int devices, const std::string& plan,
                   const std::string& flags) {
  return RunCommand("yuba partition " + model + " --devices " + std::to_string(devices) +
                    " --train sgd --loss mse --lr 0.1 -o " + plan + " " + flags);
}

void HasLosses(const std::string& model, const std::string& folder, const std::string& plan,
               const std::string& flags = "") {
  const std::vector<double> expected = LossesOf(folder);
  const CommandResult ran = Succeed("yuba run " + model + " " + plan + " --input x=" + folder +
                                    "/x.npy --input labels=" + folder + "/labels.npy --steps " +
                                    std::to_string(expected.size()) + " --json " + flags);
  const nlohmann::json losses = nlohmann::json::parse(ran.out)["numbers"]["loss"];
  REQUIRE(losses.size() == expected.size());
  for (size_t step = 0; step < expected.size(); ++step) {
    INFO(model << ", step " << step + 1);
    CHECK(std::abs(losses[step].get<double>() - expected[step]) < 1e-5 * (1 + expected[step]));
  }
}

// Whether the output of a plan of the forward pass is PyTorch's after training. A compiled program
// knows transposes by PyTorch's names, and other forms by its own.
void GivesAnswer(const std::string& model, const std::string& folder, const std::string& weights,
                 bool compiled = true) {
  const std::string scratch = ScratchFolder("exported_answer");
  Succeed("yuba partition " + model + " --devices 3 -o " + scratch + "/p.json");
  Succeed("yuba compile " + model + " " + scratch + "/p.json -o " + scratch + "/p.yuba");
  const auto expected = ReadTensorFile(folder + "/answer.npy");
  std::vector<std::string> runs = {"yuba run " + model + " " + scratch + "/p.json"};
  if (compiled) runs.push_back("yuba-run " + scratch + "/p.yuba");
  for (const std::string& run : runs) {
    Succeed(run + " --input x=" + folder + "/x.npy --outputs " + scratch + "/out" +
            (weights.empty() ? "" : " --weights " + weights));
    const auto answer = ReadTensorFile(scratch + "/out/output_0.npy");
    REQUIRE(answer->data.size() == expected->data.size());
    for (int64_t i = 0; i < static_cast<int64_t>(answer->data.size()) / 4; ++i)
      CHECK(std::abs(ValueAt(*answer, i) - ValueAt(*expected, i)) < 1e-4);
  }
}

TEST_CASE("a batch that is written into sizes is cut, and may be another one") {
  const std::string folder = Folder("resized"), scratch = ScratchFolder("exported_sizes");
  for (const char* file : {"/default.onnx", "/torchscript.onnx"}) {
    for (const char* flags : {"", "--micro-batches 2", "--micro-batches 6"}) {
      const CommandResult made = Plan(folder + file, 2, scratch + "/p.json", flags);
      INFO(made.error);
      REQUIRE(made.exit_code == 0);
      HasLosses(folder + file, folder, scratch + "/p.json");
    }
    const CommandResult larger = Succeed("yuba partition " + folder + file +
                                         " --batch 9 --devices 2 -o " + scratch + "/larger.json");
    CHECK(larger.out.find("x: f32[9, 2, 4, 5]") != std::string::npos);
  }
}

TEST_CASE("files of both exporters train as PyTorch does") {
  const std::string folder = Folder("sequence"), scratch = ScratchFolder("exported");
  const std::string plan = scratch + "/p.json";
  for (const char* file : {"/default.onnx", "/torchscript.onnx"}) {
    for (const int devices : {1, 2, 3, 8}) {
      const CommandResult made =
          Plan(folder + file, devices, plan, "--freeze-rows emb.weight=0 --verbose");
      INFO(made.error);
      REQUIRE(made.exit_code == 0);
      HasLosses(folder + file, folder, plan);
    }
  }
}

TEST_CASE("what is trained has PyTorch's names") {
  const std::string folder = Folder("sequence"), scratch = ScratchFolder("exported_names");
  const CommandResult made = Plan(folder + "/default.onnx", 2, scratch + "/p.json", "--verbose");
  INFO(made.out);
  REQUIRE(made.exit_code == 0);
  const auto says = [&](const std::string& text) {
    INFO(text);
    CHECK(made.out.find(text) != std::string::npos);
  };
  says("trained: 11 tensors of ");
  says("rnn.weight_ih_l0, gates reordered");
  says("rnn.bias_ih_l0 and rnn.bias_hh_l0, joined");
  says("mix.weight, transposed");
  says("slope.weight, reshaped");
  says("not trained: val_16 (no parameter in PyTorch)");
  CHECK(Plan(folder + "/default.onnx", 2, scratch + "/p.json",
             "--freeze 'rnn.*' --freeze mix.weight --pin 'mix.weight, transposed=[a, -]'")
            .exit_code == 0);
}

TEST_CASE("PyTorch's values come in under PyTorch's names, and go out into the file") {
  const std::string folder = Folder("sequence"), scratch = ScratchFolder("exported_values");
  GivesAnswer(folder + "/default.onnx", folder, folder + "/trained.safetensors", false);
  // The default exporter joins the two biases of the gates.
  const std::pair<const char*, const char*> files[] = {{"/default.onnx", "with 11 new values"},
                                                       {"/torchscript.onnx", "with 12 new values"}};
  for (const auto& [file, said] : files) {
    INFO(file);
    const CommandResult made = RunCommand("yuba export " + folder + file + " --weights " + folder +
                                          "/trained.safetensors -o " + scratch + "/new.onnx");
    INFO(made.out << made.error);
    REQUIRE(made.exit_code == 0);
    CHECK(made.out.find(said) != std::string::npos);
    CHECK(made.out.find("not in the model") == std::string::npos);
    GivesAnswer(scratch + "/new.onnx", folder, "");
  }
}

TEST_CASE("a checkpoint goes back into the file, whatever the names in it") {
  const std::string folder = Folder("sequence"), scratch = ScratchFolder("exported_checkpoint");
  const std::string model = folder + "/default.onnx", plan = scratch + "/p.json";
  REQUIRE(Plan(model, 3, plan, "--freeze-rows emb.weight=0").exit_code == 0);
  HasLosses(model, folder, plan, "--save " + scratch + "/c.safetensors");
  Succeed("yuba export " + model + " --weights " + scratch + "/c.safetensors -o " + scratch +
          "/new.onnx");
  GivesAnswer(scratch + "/new.onnx", folder, "");
  GivesAnswer(model, folder, scratch + "/c.safetensors");
}

TEST_CASE("an export that folds a batch norm is refused, and the other one trains") {
  const std::string folder = Folder("picture"), scratch = ScratchFolder("exported_picture");
  const std::string plan = scratch + "/p.json";
  const CommandResult refused = Plan(folder + "/default.onnx", 2, plan, "");
  CHECK(refused.exit_code == 2);
  for (const char* text :
       {"lacks conv.bias (the file has something else by that name)", "norm.weight", "norm.bias",
        "dynamo=False", "--allow-missing-parameters"}) {
    INFO(refused.error);
    CHECK(refused.error.find(text) != std::string::npos);
  }
  CHECK(Plan(folder + "/default.onnx", 2, plan, "--allow-missing-parameters --trainable 'conv.*'")
            .exit_code == 0);
  for (const int devices : {1, 2, 3, 8}) {
    REQUIRE(Plan(folder + "/torchscript.onnx", devices, plan, "").exit_code == 0);
    HasLosses(folder + "/torchscript.onnx", folder, plan);
  }
}

TEST_CASE("biases of zeros that an export leaves out and a token that it repeats are trained") {
  const std::string folder = Folder("patches"), scratch = ScratchFolder("exported_patches");
  const std::string plan = scratch + "/p.json", model = folder + "/default.onnx";
  for (const int devices : {1, 2, 3, 8}) {
    const CommandResult made = Plan(model, devices, plan, "--verbose");
    INFO(made.out << made.error);
    REQUIRE(made.exit_code == 0);
    CHECK(made.out.find("biases of zeros that the exporter left out: cut.bias, "
                        "attention.out_proj.bias, head.bias") != std::string::npos);
    CHECK(made.out.find("parameters that the file stores repeated: token") != std::string::npos);
    HasLosses(model, folder, plan, "--save " + scratch + "/c.safetensors");
  }
  for (const std::string& weights : {folder + "/trained.safetensors", scratch + "/c.safetensors"}) {
    GivesAnswer(model, folder, weights);
    Succeed("yuba export " + model + " --weights " + weights + " -o " + scratch + "/new.onnx");
    GivesAnswer(scratch + "/new.onnx", folder, "");
  }
}

TEST_CASE("rows that are not there are not frozen") {
  const std::string folder = Folder("sequence"), scratch = ScratchFolder("exported_rows");
  const auto error = [&](const std::string& flags) {
    const CommandResult made = Plan(folder + "/default.onnx", 2, scratch + "/p.json", flags);
    CHECK(made.exit_code == 2);
    return made.error;
  };
  CHECK(error("--freeze-rows emb.weight=12").find("it has 12 rows") != std::string::npos);
  CHECK(error("--freeze-rows emb=0").find("nothing that is trained has that name") !=
        std::string::npos);
  CHECK(error("--freeze-rows emb.weight=x").find("expected TABLE=ROW") != std::string::npos);
  CHECK(error("--freeze-rows mix.weight=0").find("whose rows are others") != std::string::npos);
  CHECK(error("--freeze-rows emb.weight=0 --freeze-rows emb.weight=1").find("is named twice") !=
        std::string::npos);
}

}  // namespace
}  // namespace yuba
