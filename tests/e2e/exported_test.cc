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
#include "tests/support/part.h"

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
  size_t number = 0;
  for (const char* file : {"/default.onnx", "/torchscript.onnx"}) {
    for (const int devices : {1, 2, 3, 8}) {
      if (!IsTried(number++, 3)) continue;
      const CommandResult made =
          Plan(folder + file, devices, plan, "--freeze emb.weight=0 --verbose");
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
  REQUIRE(Plan(model, 3, plan, "--freeze emb.weight=0").exit_code == 0);
  HasLosses(model, folder, plan, "--save " + scratch + "/c.safetensors");
  Succeed("yuba export " + model + " --weights " + scratch + "/c.safetensors -o " + scratch +
          "/new.onnx");
  GivesAnswer(scratch + "/new.onnx", folder, "");
  GivesAnswer(model, folder, scratch + "/c.safetensors");
}

// Trains the file in the folder and returns the checkpoint.
std::string Checkpoint(const std::string& model, const std::string& folder,
                       const std::string& scratch, const std::string& name,
                       const std::string& optimizer = "adam") {
  Succeed("yuba partition " + model + " --devices 2 --train " + optimizer +
          " --loss mse --lr 0.01 -o " + scratch + "/train.json");
  Succeed("yuba run " + model + " " + scratch + "/train.json --input x=" + folder +
          "/x.npy --input labels=" + folder + "/labels.npy --steps 2 --save " + scratch + "/" +
          name);
  return scratch + "/" + name;
}

// The output of the file with these values.
TensorData OutputOf(const std::string& model, const std::string& folder, const std::string& scratch,
                    const std::string& flags) {
  Succeed("yuba partition " + model + " --devices 3 -o " + scratch + "/forward.json");
  Succeed("yuba run " + model + " " + scratch + "/forward.json --input x=" + folder +
          "/x.npy --outputs " + scratch + "/out " + flags);
  return ReadTensorFile(scratch + "/out/output_0.npy").value();
}

void AreClose(const TensorData& a, const TensorData& b) {
  REQUIRE(a.dims == b.dims);
  for (int64_t i = 0; i < static_cast<int64_t>(a.data.size()) / 4; ++i)
    CHECK(std::abs(ValueAt(a, i) - ValueAt(b, i)) < 1e-5);
}

TEST_CASE("a checkpoint of one export gives its values to the other") {
  const std::string folder = Folder("sequence"), scratch = ScratchFolder("exported_across");
  const std::string files[] = {folder + "/default.onnx", folder + "/torchscript.onnx"};
  for (const int from : {0, 1}) {
    INFO(files[from]);
    const std::string weights = " --weights " + Checkpoint(files[from], folder, scratch, "c.st");
    const TensorData trained = OutputOf(files[from], folder, scratch, weights);
    AreClose(OutputOf(files[1 - from], folder, scratch, weights), trained);
    Succeed("yuba export " + files[1 - from] + weights + " -o " + scratch + "/new.onnx");
    AreClose(OutputOf(scratch + "/new.onnx", folder, scratch, ""), trained);
  }
}

TEST_CASE("parts of a joined tensor are set, and the others stay") {
  const std::string folder = Folder("sequence"), scratch = ScratchFolder("exported_parts");
  const auto trained = ReadSafetensors(folder + "/trained.safetensors");
  const StoredTensor& bias = trained->tensors.at("rnn.bias_ih_l0");
  const auto value = [&]() -> absl::StatusOr<TensorData> {
    return ReadView({bias, false}, ElementType::kF32);
  };
  REQUIRE(
      WriteSafetensors(scratch + "/b.st", {{"rnn.bias_ih_l0", ElementType::kF32, bias.dims, value}})
          .ok());
  const std::string weights = " --weights " + scratch + "/b.st --partial-weights";
  AreClose(OutputOf(folder + "/default.onnx", folder, scratch, weights),
           OutputOf(folder + "/torchscript.onnx", folder, scratch, weights));
  const auto refused = [&](const std::string& command, const std::string& text) {
    const CommandResult ran = RunCommand(command);
    INFO(ran.error);
    CHECK(ran.exit_code == 2);
    CHECK(ran.error.find(text) != std::string::npos);
  };
  const std::string run = "yuba run " + folder + "/default.onnx " + scratch +
                          "/forward.json --input x=" + folder + "/x.npy --weights ";
  Succeed("yuba partition " + folder + "/default.onnx --devices 3 -o " + scratch + "/forward.json");
  refused(run + scratch + "/b.st", "weights of the model; --partial-weights leaves");
  refused("yuba export " + folder + "/default.onnx" + weights + " -o " + scratch + "/new.onnx",
          "has rnn.bias_ih_l0 and lacks rnn.bias_hh_l0, which the model stores as one tensor");
  const auto other = [&]() -> absl::StatusOr<TensorData> {
    return TensorData{ElementType::kF32, {1}, std::string(4, '\0')};
  };
  REQUIRE(WriteSafetensors(scratch + "/b.st", {{"rnn.bias_ih_l0", ElementType::kF32, {1}, other}})
              .ok());
  refused(run + scratch + "/b.st --partial-weights", "rnn.bias_ih_l0 has 1 elements, and of");
}

TEST_CASE("--weights takes no states of an optimizer") {
  const std::string folder = Folder("sequence"), scratch = ScratchFolder("exported_states");
  const std::string model = folder + "/default.onnx";
  const std::string weights = " --weights " + Checkpoint(model, folder, scratch, "c.st");
  const std::string run = "yuba run " + model + " " + scratch +
                          "/train.json --json --input x=" + folder +
                          "/x.npy --input labels=" + folder + "/labels.npy --steps 3";
  const auto losses = [&](const std::string& flags) {
    return nlohmann::json::parse(Succeed(run + flags).out)["numbers"]["loss"];
  };
  const CommandResult said = Succeed(run + weights);
  CHECK(said.error.find("states of training in it, with which --resume goes on") !=
        std::string::npos);
  // As where the file has the weights themselves.
  Succeed("yuba export " + model + weights + " -o " + scratch + "/new.onnx");
  const nlohmann::json anew = losses(weights);
  Succeed("yuba partition " + scratch + "/new.onnx --devices 2 --train adam --loss mse --lr 0.01 " +
          "-o " + scratch + "/new.json");
  const nlohmann::json own =
      nlohmann::json::parse(Succeed("yuba run " + scratch + "/new.onnx " + scratch +
                                    "/new.json --json --input x=" + folder +
                                    "/x.npy --input labels=" + folder + "/labels.npy --steps 3")
                                .out)["numbers"]["loss"];
  for (int step = 0; step < 3; ++step)
    CHECK(std::abs(anew[step].get<double>() - own[step].get<double>()) < 1e-5);
}

TEST_CASE("values of parameters that an export has folded are refused") {
  const std::string folder = Folder("picture"), scratch = ScratchFolder("exported_folded");
  const std::string weights =
      " --weights " + Checkpoint(folder + "/torchscript.onnx", folder, scratch, "c.st", "sgd");
  Succeed("yuba partition " + folder + "/default.onnx --devices 2 -o " + scratch + "/p.json");
  const std::string run =
      "yuba run " + folder + "/default.onnx " + scratch + "/p.json --input x=" + folder + "/x.npy";
  const std::string made = "yuba export " + folder + "/default.onnx -o " + scratch + "/new.onnx";
  for (const std::string& command : {run + weights, made + weights}) {
    const CommandResult ran = RunCommand(command);
    INFO(ran.error);
    CHECK(ran.exit_code == 2);
    CHECK(ran.error.find("which the model has computed of") != std::string::npos);
    CHECK(ran.error.find("norm.weight") != std::string::npos);
  }
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
  CHECK(error("--freeze emb.weight=12").find("it has 12 rows: name rows from -12 to 11") !=
        std::string::npos);
  CHECK(error("--freeze emb=0,3")
            .find("--freeze emb=0,3: nothing that is trained is called emb; "
                  "name a trained table, or leave it out") != std::string::npos);
  CHECK(error("--freeze emb.weight=x").find("or TABLE=ROW") != std::string::npos);
  CHECK(error("--freeze mix.weight=0").find("whose rows are others") != std::string::npos);
  CHECK(error("--freeze emb.weight=0 --freeze emb.weight=1").find("is named twice") !=
        std::string::npos);
}

}  // namespace
}  // namespace yuba
