// The zoo's GPT, trained on a text, as PyTorch trains it (tests/models/gpt_text): 300 steps, with
// clipping, and with products in bf16.
#include <catch2/catch.hpp>
#include <cmath>
#include <fstream>
#include <numeric>
#include <string>
#include <vector>

#include "nlohmann/json.hpp"
#include "opsemantics/values/tensor_file.h"
#include "tests/support/command.h"
#include "tests/support/status_matchers.h"

namespace yuba {
namespace {

using Numbers = std::vector<double>;

class TextModel {
 public:
  explicit TextModel(const std::string& test)
      : data_(RepositoryFile("tests/models/gpt_text")), folder_(ScratchFolder(test)) {
    std::ifstream stream(data_ + "/train.json");
    traces_ = nlohmann::json::parse(stream);
    Succeed("yuba zoo gpt --layers 2 --width 32 --heads 4 --sequence 32 --vocab 64 --batch 8 -o " +
            File("gpt.onnx"));
  }

  // What is printed of the plan.
  std::string Plan(const std::string& flags) const {
    return Succeed("yuba partition " + File("gpt.onnx") + " --loss softmax-cross-entropy -o " +
                   File("plan.json") + " " + flags)
        .out;
  }

  // What the plan moves besides partial sums.
  double MovedBytes() const {
    std::ifstream stream(File("plan.json"));
    return nlohmann::json::parse(stream)["cost"]["bytes"].get<double>();
  }

  nlohmann::json Run(const std::string& flags) const {
    const CommandResult ran = Succeed("yuba run " + File("gpt.onnx") + " " + File("plan.json") +
                                      " --data " + data_ + " --json " + flags);
    return nlohmann::json::parse(ran.out);
  }

  const std::string& data() const { return data_; }
  std::string File(const std::string& name) const { return folder_ + "/" + name; }
  Numbers Trace(const std::string& run, const std::string& what) const {
    return traces_[run][what].get<Numbers>();
  }

 private:
  std::string data_, folder_;
  nlohmann::json traces_;
};

double MeanOfLast(const Numbers& numbers, int count) {
  return std::accumulate(numbers.end() - count, numbers.end(), 0.0) / count;
}

TEST_CASE("300 steps on 8 devices end with PyTorch's loss") {
  const TextModel model("text");
  model.Plan("--devices 8 --train adam --lr 0.003");
  const Numbers losses = model.Run("--steps 300")["numbers"]["loss"].get<Numbers>();
  const Numbers expected = model.Trace("adam", "losses");
  REQUIRE(losses.size() == 300);
  REQUIRE(expected.size() == 300);
  for (size_t step = 0; step < 20; ++step)
    CHECK(losses[step] == Approx(expected[step]).epsilon(1e-4));
  CHECK(losses.back() == Approx(expected.back()).epsilon(0.02));
  CHECK(MeanOfLast(losses, 40) == Approx(MeanOfLast(expected, 40)).epsilon(0.01));  // an epoch
  CHECK(MeanOfLast(losses, 40) < 0.8 * losses[0]);
}

// Twenty steps of sgd with clipping, against PyTorch's.
void CheckClipped(const TextModel& model, const std::string& flags) {
  model.Plan("--train sgd --lr 0.5 --clip 0.75 " + flags);
  Succeed("yuba verify " + model.File("gpt.onnx") + " " + model.File("plan.json"));
  const nlohmann::json numbers = model.Run("--steps 20")["numbers"];
  const Numbers losses = model.Trace("clipped", "losses"), norms = model.Trace("clipped", "norms");
  REQUIRE(numbers["loss"].size() == 20);
  size_t larger = 0;
  for (size_t step = 0; step < 20; ++step) {
    INFO("step " << step);
    CHECK(numbers["loss"][step].get<double>() == Approx(losses[step]).epsilon(1e-3));
    CHECK(numbers["gradient_norm"][step].get<double>() == Approx(norms[step]).epsilon(1e-2));
    larger += norms[step] > 0.75;
  }
  CHECK(larger > 0);
  CHECK(larger < 20);  // PyTorch has clipped some steps and left others
}

TEST_CASE("gradients are clipped by the norm of all of them") {
  CheckClipped(TextModel("clip"), "--devices 3");
}

TEST_CASE("a step in micro-batches is that of the whole batch, and clips its gradients") {
  const TextModel model("micro");
  CheckClipped(model, "--devices 3 --micro-batches 4");
  CheckClipped(model, "--devices 8 --micro-batches 8");
}

TEST_CASE("products in bf16, weights in f32") {
  const TextModel model("bf16");
  model.Plan("--devices 8 --train adam --lr 0.003 --precision bf16");
  Succeed("yuba verify " + model.File("gpt.onnx") + " " + model.File("plan.json"));
  const double narrow = model.MovedBytes();
  const nlohmann::json run = model.Run("--steps 20 --save " + model.File("states"));
  const Numbers expected = model.Trace("bf16", "losses");
  const nlohmann::json losses = run["numbers"]["loss"];
  REQUIRE(losses.size() == 20);
  size_t rounded = 0;
  for (size_t step = 0; step < 20; ++step) {
    INFO("step " << step);
    CHECK(losses[step].get<double>() == Approx(expected[step]).epsilon(0.01));
    const double wide = model.Trace("adam", "losses")[step];
    rounded += std::fabs(losses[step].get<double>() - wide) > 1e-6 * wide;
  }
  CHECK(rounded > 10);  // the losses are not those of f32
  const auto states = ReadSafetensors(model.File("states"));
  REQUIRE_THAT(states, IsOk());
  for (const auto& [name, state] : states->tensors) {
    INFO(name);
    if (IsFloat(state.type)) CHECK(state.type == ElementType::kF32);
  }
  model.Plan("--devices 8 --train adam --lr 0.003");
  CHECK(narrow < 0.8 * model.MovedBytes());  // partial sums, half of it, are f32 in both
}

TEST_CASE("the loss of other data is printed between steps") {
  const TextModel model("eval");
  model.Plan("--devices 3 --train adam --lr 0.003 --eval-entry 10");
  Succeed("yuba verify " + model.File("gpt.onnx") + " " + model.File("plan.json"));
  const std::string evaluated = " --eval " + model.data() + " --eval-every 10";
  const nlohmann::json run =
      model.Run("--steps 25" + evaluated + " --save " + model.File("states"));
  const Numbers losses = run["numbers"]["step:loss"].get<Numbers>();
  const Numbers means = run["numbers"]["eval:loss"].get<Numbers>();
  const Numbers expected = model.Trace("adam", "losses");
  REQUIRE(losses.size() == 25);
  REQUIRE(means.size() == 3);  // after steps 10, 20 and 25
  for (size_t step = 0; step < 25; ++step) {
    CHECK(losses[step] == Approx(expected[step]).epsilon(1e-3));
  }
  // An epoch of steps that change nothing has the same mean.
  model.Plan("--devices 2 --train adam --lr 0.003");
  const nlohmann::json same = model.Run("--lr-schedule 0 --weights " + model.File("states"));
  const Numbers still = same["numbers"]["loss"].get<Numbers>();
  REQUIRE(still.size() == 40);
  CHECK(means[2] == Approx(MeanOfLast(still, 40)).epsilon(1e-5));
  CHECK(means[2] < means[0]);
  const CommandResult none =
      RunCommand("yuba run " + model.File("gpt.onnx") + " " + model.File("plan.json") + " --data " +
                 model.data() + " --random" + evaluated);
  CHECK(none.exit_code == 2);
  CHECK(none.error.find("--eval-entry N adds it") != std::string::npos);
  model.Plan("--devices 1 --train adam --eval-entry 10");
  const CommandResult empty =
      RunCommand("yuba run " + model.File("gpt.onnx") + " " + model.File("plan.json") +
                 " --random --data " + model.data() + " --eval " + RepositoryFile("tests/models"));
  CHECK(empty.exit_code == 2);
  CHECK(empty.error.find("--eval " + RepositoryFile("tests/models") +
                         ": has no values of the input") != std::string::npos);
}

}  // namespace
}  // namespace yuba
