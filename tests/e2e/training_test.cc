// Training steps derived from models of forward passes: five steps of each optimizer have PyTorch's
// losses (tests/models/*/train.json), on any number of devices; whole and cut are equal bit for
// bit.
#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "nlohmann/json.hpp"
#include "opsemantics/values/tensor_file.h"
#include "tests/support/command.h"

namespace yuba {
namespace {

constexpr int kSteps = 5;

nlohmann::json Read(const std::string& file) {
  std::ifstream stream(file);
  return nlohmann::json::parse(stream);
}

std::string ReadText(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return std::string(std::istreambuf_iterator<char>(file), {});
}

void WriteText(const std::string& path, const std::string& text) {
  std::ofstream(path, std::ios::binary) << text;
}

// A model with PyTorch's losses of its first steps.
struct TrainedModel {
  explicit TrainedModel(const std::string& name)
      : folder(RepositoryFile("tests/models/" + name)),
        model(folder + "/model.onnx"),
        trace(Read(folder + "/train.json")),
        scratch(ScratchFolder("training_" + name)) {}

  // Plans with this optimizer and these flags, and returns the plan.
  std::string Plan(const std::string& optimizer, const std::string& flags) const {
    const nlohmann::json& options = trace["options"][optimizer];
    std::string train = " --train " + optimizer;
    if (optimizer == "adamw") train += ":decay=" + options["weight_decay"].dump();
    const std::string plan = scratch + "/plan.json";
    Succeed("yuba partition " + model + train + " --loss softmax-cross-entropy --lr " +
            options["lr"].dump() + " -o " + plan + " " + flags);
    return plan;
  }

  // Runs the steps and compares their losses.
  void Run(const std::string& plan, const std::string& optimizer, const std::string& flags) const {
    const CommandResult ran = Succeed(
        "yuba run " + model + " " + plan + " --inputs " + folder + "/test_data_set_0 --input " +
        "labels=" + folder + "/labels.pb --steps " + std::to_string(kSteps) + " --json " + flags);
    const nlohmann::json losses = nlohmann::json::parse(ran.out)["numbers"]["loss"];
    const nlohmann::json& expected = trace[optimizer]["losses"];
    REQUIRE(losses.size() == kSteps);
    for (int step = 0; step < kSteps; ++step) {
      INFO("step " << step);
      CHECK(losses[step].get<double>() == Approx(expected[step].get<double>()).epsilon(1e-4));
    }
  }

  std::string folder, model;
  nlohmann::json trace;
  std::string scratch;
};

// DIR/x.npy and DIR/labels.npy: 40 examples for mlp, which takes 12 a step.
void WriteExamples(const std::string& dir) {
  constexpr int64_t kExamples = 40, kWidth = 48, kClasses = 10;
  std::string x, labels;
  for (int64_t i = 0; i < kExamples; ++i) {
    for (int64_t j = 0; j < kWidth; ++j) {
      const auto value = static_cast<float>((i * 31 + j * 17) % 13) / 13;
      x.append(reinterpret_cast<const char*>(&value), sizeof value);
    }
    const int64_t label = i * 7 % kClasses;
    labels.append(reinterpret_cast<const char*>(&label), sizeof label);
  }
  WriteText(dir + "/x.npy", FormatNpy({ElementType::kF32, {kExamples, kWidth}, x}));
  WriteText(dir + "/labels.npy", FormatNpy({ElementType::kI64, {kExamples}, labels}));
}

TEST_CASE("five steps of each optimizer have PyTorch's losses") {
  for (const char* name : {"mlp", "encoder", "gpt", "lstm"}) {
    const TrainedModel model(name);
    for (const char* optimizer : {"sgd", "momentum", "adam", "adamw"}) {
      INFO(name << ", " << optimizer);
      const std::string plan = model.Plan(optimizer, "--devices 2");
      model.Run(plan, optimizer, "");
    }
  }
}

TEST_CASE("the losses are the same however the step is cut") {
  const TrainedModel model("mlp");
  for (const char* flags : {"--devices 1", "--devices 3", "--devices 8", "--devices 6 --space tofu",
                            "--devices 4 --search recursive", "--devices 8 --replicate auto"}) {
    INFO(flags);
    const std::string plan = model.Plan("adam", flags);
    Succeed("yuba check " + model.model + " " + plan);  // the plan knows its optimizer
    const CommandResult verified = Succeed("yuba verify " + model.model + " " + plan);
    CHECK(verified.out.find("bit for bit") != std::string::npos);
    CHECK(verified.out.find("after 3 steps") != std::string::npos);
    model.Run(plan, "adam", "");
    model.Run(plan, "adam", "--guard memory --interleave 7");
  }
}

TEST_CASE("a batch in micro-batches gives the losses of the whole batch") {
  const TrainedModel model("mlp");
  for (const char* flags : {"--devices 1 --micro-batches 2", "--devices 8 --micro-batches 3",
                            "--devices 4 --micro-batches 12 --search recursive"}) {
    INFO(flags);
    const std::string plan = model.Plan("adam", flags);
    const CommandResult verified = Succeed("yuba verify " + model.model + " " + plan);
    CHECK(verified.out.find("bit for bit") != std::string::npos);
    model.Run(plan, "adam", "");
  }
}

TEST_CASE(
    "a step in micro-batches takes its examples part by part, and goes on from a checkpoint") {
  const TrainedModel model("mlp");
  const std::string data = " --data " + model.scratch + "/data --shuffle 3 --json ";
  std::filesystem::create_directory(model.scratch + "/data");
  model.Plan("adam", "--devices 2");
  WriteExamples(model.scratch + "/data");
  const auto numbers = [&](const std::string& flags) {
    const CommandResult ran =
        Succeed("yuba run " + model.model + " " + model.scratch + "/plan.json" + data + flags);
    return nlohmann::json::parse(ran.out)["numbers"];
  };
  const auto losses = [&](const std::string& flags) { return numbers(flags)["loss"]; };
  const nlohmann::json whole = losses("--epochs 2");
  model.Plan("adam", "--devices 2 --micro-batches 4");
  const nlohmann::json parts = losses("--epochs 2");
  REQUIRE(whole.size() == 6);  // 40 examples, of which an epoch leaves 4 out
  REQUIRE(parts.size() == 6);
  for (size_t step = 0; step < whole.size(); ++step) {
    CHECK(parts[step].get<double>() == Approx(whole[step].get<double>()).epsilon(1e-5));
  }
  const std::string saved = model.scratch + "/parts.st";
  losses("--steps 2 --save " + saved);
  const nlohmann::json rest = losses("--steps 4 --resume " + saved);
  CHECK(rest == nlohmann::json({parts[2], parts[3]}));
  // Checkpoints are of whole steps: any number of parts goes on from them.
  for (const char* other : {"--devices 3", "--devices 2 --micro-batches 2"}) {
    INFO(other);
    model.Plan("adam", other);
    const nlohmann::json resumed = losses("--steps 4 --resume " + saved);
    REQUIRE(resumed.size() == 2);
    CHECK(resumed[1].get<double>() == Approx(parts[3].get<double>()).epsilon(1e-5));
  }
  model.Plan("adam", "--devices 2 --micro-batches 4 --eval-entry 2");
  const nlohmann::json evaluated = numbers("--steps 2 --eval " + model.scratch + "/data");
  CHECK(evaluated["micro:loss"] == nlohmann::json({parts[0], parts[1]}));
  CHECK(evaluated["eval:loss"].size() == 1);
  // Folders of whole batches, with the same labels in all.
  const CommandResult folders =
      Succeed("yuba run " + model.model + " " + model.scratch + "/plan.json --data " +
              model.folder + " --eval " + model.folder + " --input labels=" + model.folder +
              "/labels.pb --epochs 2 --json");
  const nlohmann::json found = nlohmann::json::parse(folders.out)["numbers"];
  const nlohmann::json& trace = model.trace["adam"]["losses"];
  CHECK(found["micro:loss"][1].get<double>() == Approx(trace[1].get<double>()).epsilon(1e-4));
  CHECK(found["eval:loss"][0].get<double>() == Approx(trace[2].get<double>()).epsilon(1e-4));
  const CommandResult checked =
      RunCommand("yuba run " + model.model + " " + model.scratch + "/plan.json --inputs " +
                 model.folder + "/test_data_set_0 --expect 1e-3");
  CHECK(checked.error.find("leave --expect out") != std::string::npos);
}

TEST_CASE("training goes on from a checkpoint with the same bits, and in any other plan") {
  const TrainedModel model("mlp");
  const std::string plan = model.Plan("adam", "--devices 8");
  const auto run = [&](const std::string& flags) {
    return Succeed("yuba run " + model.model + " " + plan + " --inputs " + model.folder +
                   "/test_data_set_0 --input labels=" + model.folder + "/labels.pb --json " +
                   flags);
  };
  const std::string whole = model.scratch + "/whole.st", half = model.scratch + "/half.st",
                    resumed = model.scratch + "/resumed.st";
  const nlohmann::json all = nlohmann::json::parse(run("--steps 4 --save " + whole).out);
  run("--steps 3 --save-every 2 --save " + half);
  run("--steps 2 --save " + half);
  const nlohmann::json rest =
      nlohmann::json::parse(run("--steps 4 --resume " + half + " --save " + resumed).out);
  CHECK(rest["numbers"]["loss"][0] == all["numbers"]["loss"][2]);
  CHECK(rest["numbers"]["loss"][1] == all["numbers"]["loss"][3]);
  const bool same_bytes = ReadText(whole) == ReadText(resumed);
  CHECK(same_bytes);
  model.Plan("adam", "--devices 3");
  const nlohmann::json other = nlohmann::json::parse(run("--steps 4 --resume " + half).out);
  CHECK(other["numbers"]["loss"][1].get<double>() ==
        Approx(all["numbers"]["loss"][3].get<double>()).epsilon(1e-5));
}

TEST_CASE("trained weights go back into the model's file") {
  const TrainedModel model("mlp");
  const std::string plan = model.Plan("sgd", "--devices 2");
  const std::string saved = model.scratch + "/saved.st", trained = model.scratch + "/trained.onnx",
                    forward = model.scratch + "/forward.json", y = model.scratch + "/y";
  const std::string inputs = " --inputs " + model.folder + "/test_data_set_0 ";
  Succeed("yuba run " + model.model + " " + plan + inputs + "--input labels=" + model.folder +
          "/labels.pb --steps 3 --save " + saved);
  const CommandResult written =
      Succeed("yuba export " + model.model + " --weights " + saved + " -o " + trained);
  CHECK(written.out.find("6 new values") != std::string::npos);
  // The new file gives what the old one gives with the weights beside it, and not what it gave.
  Succeed("yuba partition " + trained + " --devices 3 -o " + forward);
  Succeed("yuba run " + trained + " " + forward + inputs + "--outputs " + y + "_new");
  Succeed("yuba partition " + model.model + " --devices 3 -o " + forward);
  Succeed("yuba run " + model.model + " " + forward + inputs + "--weights " + saved +
          " --outputs " + y + "_beside");
  Succeed("yuba run " + model.model + " " + forward + inputs + "--outputs " + y + "_old");
  CHECK(ReadText(y + "_new/output_0.npy") == ReadText(y + "_beside/output_0.npy"));
  CHECK(ReadText(y + "_new/output_0.npy") != ReadText(y + "_old/output_0.npy"));
  const CommandResult other =
      RunCommand("yuba export " + RepositoryFile("tests/models/lstm/model.onnx") + " --weights " +
                 saved + " -o " + trained);
  CHECK(other.exit_code == 2);
  CHECK(other.error.find("no initializer has a name of l.0.bias") != std::string::npos);
}

TEST_CASE("the commands of docs/training.md run") {
  const std::string text = ReadText(RepositoryFile("docs/training.md"));
  const std::string scratch = ScratchFolder("guide") + "/";
  int commands = 0;
  for (size_t at = text.find("\n$ "); at != std::string::npos; at = text.find("\n$ ", at + 1)) {
    std::string command = text.substr(at + 3, text.find('\n', at + 1) - at - 3);
    for (const auto& [from, to] : std::vector<std::pair<std::string, std::string>>{
             {"tests/models", RepositoryFile("tests/models")},
             {" mlp.", " " + scratch + "mlp."},
             {" zoo.", " " + scratch + "zoo."}}) {
      for (size_t found = command.find(from); found != std::string::npos;
           found = command.find(from, found + to.size()))
        command.replace(found, from.size(), to);
    }
    INFO(command);
    const CommandResult ran = Succeed(command);
    ++commands;
    if (commands == 3) {  // the run prints, but for times, what the guide says
      const size_t moved = text.find("moved "), end = text.find(" ...", moved);
      CHECK(ran.out.find(text.substr(moved, end - moved)) != std::string::npos);
      for (size_t loss = text.find(" loss 2."); loss != std::string::npos;
           loss = text.find(" loss 2.", loss + 1))
        CHECK(ran.out.find(text.substr(loss, 11)) != std::string::npos);  // four digits
    }
    if (commands == 1) {
      const size_t trained = text.find("trained: 6 tensors");
      CHECK(ran.out.find(text.substr(trained, text.find('\n', trained) - trained)) !=
            std::string::npos);
    }
  }
  CHECK(commands == 17);
}

TEST_CASE("optimizers and losses of one's own") {
  const TrainedModel model("mlp");
  const std::string file = model.scratch + "/own.tdl";
  std::ofstream(file) << R"(
# Half of each step is of the gradient's sign.
op signed(state w[s..], g[s..], lr[]) -> w'[s..]
  w'[i..] = w[i..] - lr[] * (0.5 * g[i..] + 0.5 * sign(g[i..]))
# The greatest of all differences.
op worst(x[s..], labels[s..]) -> loss[]
  loss[] = max(i..: s..) abs(x[i..] - labels[i..])
op odd(state w[s..], g[s..], lr[]) -> w'[s..], norm[]
  w'[i..] = w[i..] - lr[] * g[i..]
  norm[] = sum(i..: s..) sq(g[i..])
op whole(x[s..], labels[s..]) -> loss[]: i64
  loss[] = cast(sum(i..: s..) sq(x[i..] - labels[i..]), i64)
op noisy(state w[s..], g[s..], lr[]) -> w'[s..]
  w'[i..] = w[i..] - lr[] * g[i..] * rand()
)";
  const std::string partition = "yuba partition " + model.model + " --devices 2 --operators " +
                                file + " -o " + model.scratch + "/own.json ";
  Succeed(partition + "--train signed --loss worst");
  const CommandResult verified =
      Succeed("yuba verify " + model.model + " " + model.scratch + "/own.json --operators " + file);
  CHECK(verified.out.find("bit for bit") != std::string::npos);
  const auto error = [&](const std::string& flags) {
    const CommandResult ran = RunCommand(partition + flags);
    INFO(ran.error);
    CHECK(ran.exit_code == 2);
    return ran.error;
  };
  CHECK(error("--train odd --loss mse").find("norm of the optimizer odd is no next value") !=
        std::string::npos);
  CHECK(error("--train sgd --loss whole").find("only floats can be minimized") !=
        std::string::npos);
  CHECK(error("--train noisy --loss mse").find("noisy draws random numbers") != std::string::npos);
}

TEST_CASE("what is wrong with a training step is said") {
  const TrainedModel model("mlp");
  const auto error = [&](const std::string& flags) {
    const CommandResult ran = RunCommand("yuba partition " + model.model + " --devices 2 -o " +
                                         model.scratch + "/wrong.json " + flags);
    CHECK(ran.exit_code == 2);
    return ran.error;
  };
  const std::string loss = " --loss softmax-cross-entropy ";
  const auto says = [&](const std::string& flags, const std::string& text) {
    const std::string message = error(flags);
    INFO(message);
    CHECK(message.find(text) != std::string::npos);
  };
  says("--train sgd", "--loss");
  says("--train sdg" + loss,
       "--train sdg: there is no description of that name; there are adam, adamw, momentum, sgd");
  says("--train relu" + loss, "relu is no optimizer");
  says("--train sgd --loss matmul", "matmul is no loss");
  says("--train sgd --loss cross-entropy",
       "--loss cross-entropy: there is no description of that name; there are mse, "
       "softmax-cross-entropy, and --operators adds others");
  says("--train sgd --loss softmax-cross-entropy:smoothing=1",
       "softmax_cross_entropy has no attribute smoothing; it has ignore_index, label_smoothing");
  says("--train sgd --loss softmax-cross-entropy:ignore_index=0.5",
       "the attribute 'ignore_index' needs an integer");
  says("--train sgd --loss softmax-cross-entropy:label_smoothing=2",
       "the attribute 'label_smoothing' needs a number from 0 to 1, not 2");
  says("--train sgd --loss softmax-cross-entropy:ignore_index=0,ignore_index=1",
       "the attribute ignore_index is given twice");
  says("--train adam:beta1=1.5" + loss, "the attribute 'beta1' needs a number from 0 to 1");
  says("--train sgd --minimize y",
       "the output is f32[12, 10], and what is minimized is one number");
  says("--train sgd --minimize z", "--minimize z: the model has no such output");
  says("--train adam:beta3=1" + loss, "adam has no attribute beta3; it has beta1, beta2, eps");
  says("--train adam:beta1" + loss, "'beta1' is no NAME=NUMBER");
  says("--train sgd --lr x" + loss, "--lr x: a learning rate is a number above 0");
  says("--train sgd --loss softmax-cross-entropy@z",
       "--loss softmax-cross-entropy@z: the model has no such output");
  says("--train sgd --freeze '*zork*'" + loss, "--freeze *zork*: no parameter has such a name");
  says("--train sgd --freeze '*'" + loss, "nothing can be trained");
  says("--train sgd --entry a:b=1" + loss, "leave out --entry");
  const CommandResult narrow = RunCommand(
      "yuba partition " + RepositoryFile("tests/models/modern/mlp_bf16/model.onnx") +
      " --devices 2 --batch 4 --train sgd --loss mse -o " + model.scratch + "/bf16.json");
  CHECK(narrow.exit_code == 2);
  CHECK(narrow.error.find("export the model in f32, and use --precision bf16") !=
        std::string::npos);
  says("--train sgd --micro-batches 0" + loss, "a number of micro-batches, at least 1");
  says("--train sgd --micro-batches 5" + loss, "has 12 examples a step");
}

}  // namespace
}  // namespace yuba
