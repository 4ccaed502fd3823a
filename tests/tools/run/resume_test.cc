// `yuba run --resume`: a run goes on as it was, by what its checkpoint says; what differs is
// refused by name, unless --override names it.
#include <catch2/catch.hpp>
#include <fstream>
#include <map>
#include <string>
#include <vector>

#include "nlohmann/json.hpp"
#include "opsemantics/values/tensor_file.h"
#include "tests/compiler/support/onnx_builder.h"
#include "tests/support/command.h"
#include "tests/support/status_matchers.h"

namespace yuba {
namespace {

using Losses = std::vector<double>;

TensorData Examples(int count) {
  TensorData x{ElementType::kF32, {count, 48}, ""};
  for (int i = 0; i < count * 48; ++i) {
    const float value = static_cast<float>(i * 37 % 101) / 50 - 1;
    x.data.append(reinterpret_cast<const char*>(&value), sizeof value);
  }
  return x;
}

TensorData Labels(int count) {
  TensorData labels{ElementType::kI64, {count}, ""};
  for (int64_t i = 0; i < count; ++i) {
    const int64_t label = i * 7 % 10;
    labels.data.append(reinterpret_cast<const char*>(&label), sizeof label);
  }
  return labels;
}

// Training of mlp with 40 examples.
struct Training {
  explicit Training(const std::string& name)
      : folder(ScratchFolder("resume_" + name)), models(RepositoryFile("tests/models/mlp")) {
    WriteData("data", 40);
    Plan("--batch 12");
  }

  void WriteData(const std::string& name, int count) const {
    Do("mkdir -p " + name);
    std::ofstream(folder + "/" + name + "/x.npy", std::ios::binary) << FormatNpy(Examples(count));
    std::ofstream(folder + "/" + name + "/labels.npy", std::ios::binary)
        << FormatNpy(Labels(count));
  }
  CommandResult Do(const std::string& commands) const {
    return Succeed("cd " + folder + " && " + commands);
  }
  void Plan(const std::string& flags, const std::string& train = "momentum") const {
    Do("yuba partition " + models + "/model_dynamic.onnx --train " + train +
       " --loss softmax-cross-entropy --devices 3 -o p.json " + flags);
  }
  std::string Command(const std::string& flags) const {
    return "cd " + folder + " && yuba run " + models + "/model_dynamic.onnx p.json --json " + flags;
  }
  Losses Run(const std::string& flags) const {
    return nlohmann::json::parse(Succeed(Command(flags)).out)["numbers"]["loss"];
  }
  // Goes on with these losses, and with this on stderr.
  void GoesOn(const std::string& flags, const Losses& losses, const std::string& note = "") const {
    INFO(flags);
    const CommandResult ran = Succeed(Command(flags));
    CHECK(nlohmann::json::parse(ran.out)["numbers"]["loss"] == losses);
    INFO(ran.error);
    CHECK(ran.error.empty() == note.empty());
    CHECK(ran.error.find(note) != std::string::npos);
  }
  void Refuses(const std::string& flags, const std::string& message) const {
    const CommandResult ran = RunCommand(Command(flags));
    INFO(flags << "\n" << ran.error);
    CHECK(ran.exit_code == 2);
    CHECK(ran.error.find(message) != std::string::npos);
  }

  std::string folder, models;
};

Losses Behind(const Losses& losses, int done) { return {losses.begin() + done, losses.end()}; }

TEST_CASE("order and learning rate that are not given are the checkpoint's") {
  const Training training("order");
  const std::string shuffle = " --shuffle 3", rate = " --lr-schedule cosine:0.1,warmup=3,steps=20",
                    data = "--data data --epochs 4", resume = " --resume c.st";
  const Losses all = training.Run(data + shuffle + rate);
  training.Run("--data data --steps 7 --save c.st" + shuffle + rate);
  const Losses rest = Behind(all, 7);
  training.GoesOn(data + shuffle + rate + resume, rest);
  training.GoesOn(data + rate + resume, rest);
  training.GoesOn(data + resume, rest, "the learning rate goes on as in c.st, cosine:0.1");
  training.Refuses(data + rate + resume + " --shuffle 4",
                   "c.st: its run had --shuffle 3, and this one has 4; --override shuffle");
  training.Refuses(
      data + shuffle + resume + " --lr-schedule 0.1",
      "c.st: its run had --lr-schedule cosine:0.1,warmup=3,steps=20, and this one has 0.1; "
      "--override lr-schedule");
  training.Refuses("--inputs " + training.models + "/test_data_set_0 --steps 9" + resume,
                   "c.st: its run took examples of --data, in the order of --shuffle 3, and this "
                   "one has no --data: give it, or --override data,shuffle");
  CHECK(training.Run(data + rate + resume + " --shuffle 4 --override shuffle") != rest);
  CHECK(training.Run(data + rate + resume + " --override shuffle") != rest);
  const Losses planned = training.Run(data + shuffle + resume + " --override lr-schedule");
  CHECK(planned ==
        training.Run(data + shuffle + resume + " --lr-schedule 0.01 --override lr-schedule"));
  CHECK(planned != rest);
  training.Refuses(data + resume + " --override steps",
                   "--override steps: neither this run nor that of c.st has it; what may differ is "
                   "seed, shuffle, lr-schedule, data, batch, freeze, tie, tune, "
                   "loss, train");
  // A program without its model goes on alike; and a list of rates is in the checkpoint.
  training.Do("yuba compile " + training.models + "/model_dynamic.onnx p.json -o p.yuba");
  const CommandResult compiled = training.Do("yuba-run p.yuba --json " + data + resume);
  CHECK(nlohmann::json::parse(compiled.out)["numbers"]["loss"] == rest);
  std::ofstream(training.folder + "/rates.txt") << "0.1\n0.05\n0.025\n";
  const Losses listed = training.Run("--data data --steps 4 --lr-schedule rates.txt");
  training.Run("--data data --steps 1 --lr-schedule rates.txt --save d.st");
  training.Do("rm rates.txt");
  CHECK(training.Run("--data data --steps 4 --resume d.st") == Behind(listed, 1));
}

TEST_CASE("a weight of --input goes on from the checkpoint") {
  const Training training("given_weight");
  TensorData bias{ElementType::kF32, {10}, ""};
  for (int i = 0; i < 10; ++i) {
    const float value = 0.1F * static_cast<float>(i);
    bias.data.append(reinterpret_cast<const char*>(&value), sizeof value);
  }
  std::ofstream(training.folder + "/b.npy", std::ios::binary) << FormatNpy(bias);
  const std::string flags = "--data data --input l.2.bias=b.npy ";
  const Losses all = training.Run(flags + "--steps 3");
  CHECK(all != training.Run("--data data --steps 3"));
  training.GoesOn(flags + "--steps 1 --save c.st --resume latest", {all[0]}, "begins anew");
  training.GoesOn(flags + "--steps 3 --save c.st --resume latest", Behind(all, 1),
                  "l.2.bias goes on as in c.st; the value of b.npy is for a run's beginning");
  // Another value is refused, or taken where that is asked for.
  training.Run("--data data --steps 1 --save d.st");
  const std::string resumed = flags + "--steps 3 --resume d.st";
  training.Refuses(resumed, "the values of l.2.bias are not those of its run");
  const Losses taken = training.Run(resumed + " --override data");
  CHECK(taken != training.Run("--data data --steps 3 --resume d.st"));
}

TEST_CASE("the rate of a plan is the checkpoint's too") {
  const Training training("rate");
  training.Plan("--batch 12 --lr 0.07");
  const Losses all = training.Run("--data data --steps 3");
  training.Run("--data data --steps 1 --save c.st");
  training.GoesOn("--data data --steps 3 --resume c.st", Behind(all, 1));
  training.GoesOn("--data data --steps 3 --resume c.st --lr-schedule 0.07", Behind(all, 1));
  training.Plan("--batch 12 --lr 0.3");
  training.GoesOn("--data data --steps 3 --resume c.st", Behind(all, 1),
                  "goes on as in c.st, 0.07; the plan's is 0.3 (--override lr-schedule)");
  CHECK(training.Run("--data data --steps 3 --resume c.st --override lr-schedule") !=
        Behind(all, 1));
}

TEST_CASE("data is known by what it is, wherever it lies") {
  const Training training("data");
  const Losses all = training.Run("--data data --steps 5");
  training.Run("--data data --steps 2 --save c.st");
  training.Do("mv data moved");
  training.GoesOn("--data moved --steps 5 --resume c.st", Behind(all, 2));
  const TensorData x = Examples(40), labels = Labels(40);
  REQUIRE_THAT(WriteSafetensors(training.folder + "/all.safetensors",
                                {{"labels", labels.type, labels.dims, [&] { return labels; }},
                                 {"x", x.type, x.dims, [&] { return x; }}}),
               IsOk());
  training.GoesOn("--data all.safetensors --steps 5 --resume c.st", Behind(all, 2));
  training.WriteData("more", 44);
  training.Refuses("--data more --steps 5 --resume c.st",
                   "c.st: the values of labels are not those of its run, which had i64[40]");
  TensorData other = x;
  other.data[1000] ^= 1;
  std::ofstream(training.folder + "/moved/x.npy", std::ios::binary) << FormatNpy(other);
  training.Refuses("--data moved --steps 5 --resume c.st", "c.st: the values of x are not those");
  // Other data begins with an epoch: the second, as some of the first was seen.
  const CommandResult overridden =
      Succeed(training.Command("--data more --epochs 2 --resume c.st --override data"));
  const nlohmann::json steps = nlohmann::json::parse(overridden.out);
  CHECK(steps["first_step"] == 3);
  CHECK(steps["numbers"]["loss"].size() == 3);
}

TEST_CASE("another batch size goes on behind the examples that were seen") {
  const Training training("batch");
  training.Run("--data data --steps 2 --save c.st");  // 24 of 40 examples
  training.Plan("--batch 5");
  const std::string resume = "--data data --resume c.st --epochs 2";
  const CommandResult ran = Succeed(training.Command(resume + " --save d.st"));
  CHECK(ran.error.find("c.st: its steps took 12 examples, and these take 5; they go on behind "
                       "example 24 of epoch 1") != std::string::npos);
  const nlohmann::json steps = nlohmann::json::parse(ran.out);
  CHECK(steps["first_step"] == 3);
  CHECK(steps["numbers"]["loss"].size() == 3 + 8);
  CHECK(Succeed(training.Command(resume + " --override batch")).error.empty());
  training.Plan("--batch 20");  // 40 of 40 were seen: the third epoch
  CHECK(training.Run("--data data --resume d.st --epochs 3").size() == 2);
  training.Refuses("--data data --resume d.st --epochs 2", "13 steps of it are done");
}

TEST_CASE("what decides a step is the checkpoint's or overridden") {
  const Training training("settings");
  training.Run("--data data --steps 2 --save c.st");
  const std::string resume = "--data data --steps 3 --resume c.st";
  training.Plan("--batch 12 --clip 0.5");
  training.Refuses(resume, "c.st: its run had --clip none, and this one has 0.5; --override clip");
  training.Run(resume + " --override clip --save d.st");
  training.Plan("--batch 12 --clip 0.50");
  training.Run("--data data --steps 4 --resume d.st");
  training.Plan("--batch 12 --micro-batches 3");
  training.Run(resume);
  training.Plan("--batch 12 --freeze 'l.0.*'");
  training.Refuses(resume, "c.st: its run trained l.0.bias, l.0.weight, and this plan does not");
  training.Run(resume + " --override freeze --save frozen.st");
  training.Plan("--batch 12");
  training.Refuses("--data data --steps 4 --resume frozen.st",
                   "frozen.st: its run did not train l.0.bias, l.0.weight, and this plan does");
  const CommandResult thawed =
      Succeed(training.Command("--data data --steps 4 --resume frozen.st --override freeze"));
  CHECK(thawed.error.find("does not have l.0.weight.v, l.0.bias.v, which begin as in a new run") !=
        std::string::npos);
}

TEST_CASE("an older checkpoint goes on with a note") {
  const Training training("older");
  const Losses all = training.Run("--data data --steps 5");
  training.Run("--data data --steps 4 --save c.st");
  const auto saved = ReadSafetensors(training.folder + "/c.st");
  REQUIRE_THAT(saved, IsOk());
  std::vector<TensorToWrite> tensors;
  for (const auto& [name, tensor] : saved->tensors) {
    tensors.push_back({name, tensor.type, tensor.dims, [tensor = tensor] {
                         return TensorOf(tensor.type, tensor.dims, ReadRange(tensor.bytes).value());
                       }});
  }
  const std::string old = training.folder + "/old.st";
  REQUIRE_THAT(WriteSafetensors(old, tensors, {{"step", "4"}}), IsOk());
  training.GoesOn("--data data --steps 5 --resume old.st", Behind(all, 4),
                  "old.st: an older version wrote it, which does not say its data");
  REQUIRE_THAT(WriteSafetensors(training.folder + "/bad.st", tensors,
                                {{"step", "4"}, {"yuba.run", R"({"epoch":-1})"}}),
               IsOk());
  training.Refuses("--data data --steps 5 --resume bad.st",
                   "bad.st: its 'yuba.run' has no 'epoch'");
}

TEST_CASE("a tied checkpoint has the values of all that is tied") {
  const std::string folder = ScratchFolder("resume_tied"),
                    model = RepositoryFile("tests/models/tied/model.onnx"),
                    data = RepositoryFile("tests/models/tied/test_data_set_0");
  const auto command = [&](const std::string& flags) {
    return "cd " + folder + " && yuba " + flags;
  };
  const TensorData labels{ElementType::kI64, {6}, std::string(48, '\0')};
  std::ofstream(folder + "/labels.npy", std::ios::binary) << FormatNpy(labels);
  const std::string plan = "partition " + model + " --devices 2 --train adam --lr 0.1 --loss " +
                           "softmax-cross-entropy -o t.json ",
                    inputs = " --inputs " + data + " --input labels=labels.npy ",
                    run = "run " + model + " t.json" + inputs;
  Succeed(command(plan + "--tie H=E --tie W=E"));
  const nlohmann::json whole =
      nlohmann::json::parse(Succeed(command(run + "--steps 4 --json")).out);
  Succeed(command(run + "--steps 3 --save c.st"));
  // The model with trained values, and the trained values beside the model, have the next loss.
  Succeed(command("export " + model + " --weights c.st -o new.onnx"));
  CHECK(Succeed(command("export " + model + " --weights c.st -o new.onnx"))
            .out.find("3 new values") != std::string::npos);
  const auto next = [&](const std::string& flags) {
    return nlohmann::json::parse(
               Succeed(command(flags + inputs + " --json")).out)["numbers"]["loss"][0]
        .get<double>();
  };
  CHECK(next("run new.onnx t.json") == whole["numbers"]["loss"][3].get<double>());
  Succeed(command(plan));
  CHECK(next("run " + model + " t.json --weights c.st") ==
        Approx(whole["numbers"]["loss"][3].get<double>()).epsilon(1e-5));
  const CommandResult untied = RunCommand(command(run + "--steps 4 --resume c.st"));
  CHECK(untied.exit_code == 2);
  CHECK(untied.error.find("c.st: its run had --tie H=E, W=E, and this plan has none; --override "
                          "tie") != std::string::npos);
  const CommandResult overridden =
      Succeed(command(run + "--steps 4 --resume c.st --override tie --json"));
  CHECK(nlohmann::json::parse(overridden.out)["numbers"]["loss"][0].get<double>() ==
        Approx(whole["numbers"]["loss"][3].get<double>()).epsilon(1e-5));
}

TEST_CASE("tied weights may be called as what checkpoints say of themselves") {
  const std::string folder = ScratchFolder("resume_keys");
  compiler::OnnxBuilder builder;
  builder.Input("x", {4, 3});
  const std::vector<std::string> names = {"kept", "step", "format", "yuba.run", "total_size"};
  std::string value = "x";
  for (const std::string& name : names) {
    builder.Weight(name, {3, 3});
    builder.Node("MatMul", {value, name}, {"by_" + name});
    value = "by_" + name;
  }
  builder.Output(value);
  const std::string model = builder.Save();
  const auto data = [&](const std::string& name) {
    const std::string file = folder + "/" + name + ".npy";
    TensorData values{ElementType::kF32, {4, 3}, ""};
    for (int i = 0; i < 12; ++i) {
      const float number = static_cast<float>(i * 5 % 7) / 10;
      values.data.append(reinterpret_cast<const char*>(&number), sizeof number);
    }
    std::ofstream(file, std::ios::binary) << FormatNpy(values);
    return " --input " + name + "=" + file;
  };
  std::string plan = "yuba partition " + model +
                     " --devices 2 --train sgd --lr 0.01 --loss mse -o " + folder + "/p.json";
  const std::string untied = plan;
  for (const std::string& name : names) {
    if (name != "kept") plan += " --tie " + name + "=kept";
  }
  const std::string run =
      "cd " + folder + " && yuba run " + model + " p.json --json" + data("x") + data("labels");
  const auto losses = [&](const std::string& flags) -> Losses {
    return nlohmann::json::parse(Succeed(run + flags).out)["numbers"]["loss"];
  };
  Succeed(plan);
  const Losses whole = losses(" --steps 4");
  for (const std::string place : {"c.st", "c/"}) {
    INFO(place);
    losses(" --steps 3 --save " + place);
    CHECK(losses(" --steps 4 --resume " + place) == Behind(whole, 3));
  }
  Succeed(untied);
  for (const std::string place : {"c.st", "c/"}) {
    INFO(place);
    CHECK(losses(" --steps 1 --weights " + place)[0] == Approx(whole[3]).epsilon(1e-5));
  }
}

TEST_CASE("a checkpoint has the numbers of a model's code that a run was given") {
  const std::string folder = ScratchFolder("resume_number"),
                    model = RepositoryFile("tests/models/tied/model.onnx"),
                    data = RepositoryFile("tests/models/tied/test_data_set_0");
  const TensorData labels{ElementType::kI64, {6}, std::string(48, '\0')};
  std::ofstream(folder + "/labels.npy", std::ios::binary) << FormatNpy(labels);
  const float three = 3;
  const TensorData scale{
      ElementType::kF32, {}, std::string(reinterpret_cast<const char*>(&three), sizeof three)};
  REQUIRE_THAT(WriteSafetensors(folder + "/w.st",
                                {{"scale", scale.type, scale.dims, [&] { return scale; }}}),
               IsOk());
  Succeed("cd " + folder + " && yuba partition " + model + " --devices 2 --train sgd --lr 0.01 " +
          "--loss softmax-cross-entropy -o p.json");
  const auto losses = [&](const std::string& flags) -> Losses {
    return nlohmann::json::parse(Succeed("cd " + folder + " && yuba run " + model + " p.json " +
                                         "--json --inputs " + data + " --input " +
                                         "labels=labels.npy " + flags)
                                     .out)["numbers"]["loss"];
  };
  const std::string given = " --partial-weights --weights w.st ";
  const Losses all = losses("--steps 4" + given);
  CHECK(all != losses("--steps 4"));
  losses("--steps 2 --save c.st" + given);
  CHECK(losses("--steps 3 --resume c.st --save c.st") == Losses{all[2]});
  CHECK(losses("--steps 4 --resume c.st") == Losses{all[3]});
  // A compiled program cannot take it, and says so.
  Succeed("cd " + folder + " && yuba compile " + model + " p.json -o p.yuba");
  for (const char* flags : {" --resume c.st", " --partial-weights --weights w.st"}) {
    const CommandResult ran =
        RunCommand("cd " + folder + " && yuba-run p.yuba --steps 9 --inputs " + data +
                   " --input labels=labels.npy" + flags);
    INFO(ran.error);
    CHECK(ran.exit_code == 2);
    CHECK(ran.error.find(".st: has another value of scale (3), which is part of the program's "
                         "code: plan and compile the model that yuba export") != std::string::npos);
  }
}

TEST_CASE("the seed of a model's random numbers is the checkpoint's") {
  const std::string folder = ScratchFolder("resume_seed"),
                    model = RepositoryFile("tests/models/random/model.onnx");
  const auto command = [&](const std::string& flags) {
    return "cd " + folder + " && yuba run " + model + " p.json --random --json " + flags;
  };
  Succeed("cd " + folder + " && yuba partition " + model + " --devices 2 --train sgd --loss " +
          "softmax-cross-entropy@y -o p.json");
  const auto losses = [&](const std::string& flags) -> Losses {
    return nlohmann::json::parse(Succeed(command(flags)).out)["numbers"]["loss"];
  };
  const Losses all = losses("--steps 3 --seed 5");
  Succeed(command("--steps 1 --seed 5 --save c.st"));
  CHECK(losses("--steps 3 --resume c.st") == Behind(all, 1));
  const CommandResult other = RunCommand(command("--steps 3 --resume c.st --seed 6"));
  CHECK(other.exit_code == 2);
  CHECK(other.error.find("c.st: its run had --seed 5, and this one has 6; --override seed") !=
        std::string::npos);
  CHECK(losses("--steps 3 --resume c.st --seed 6 --override seed") != Behind(all, 1));
}

// Writes the checkpoint as a version did that knew no parameters of PyTorch's in another form, and
// trained tables, but no parameters of one element: under names of the file, and without what its
// run was given.
void WriteOld(const std::string& from, const std::string& to, const std::string& untrained) {
  const std::map<std::string, std::string> names = {
      {"mix.weight, transposed", "val_82"},
      {"rnn.weight_ih_l0, gates reordered", "val_41"},
      {"rnn.weight_hh_l0, gates reordered", "val_42"},
      {"rnn.bias_ih_l0 and rnn.bias_hh_l0, joined", "val_64"},
      {"slope.weight, reshaped", "val_85"}};
  const auto file = ReadSafetensors(from);
  REQUIRE_THAT(file, IsOk());
  std::vector<TensorToWrite> tensors;
  const auto add = [&](const std::string& name, const StoredTensor& tensor) {
    tensors.push_back({name, tensor.type, tensor.dims,
                       [tensor] { return ReadView({tensor, false}, tensor.type); }});
  };
  for (const auto& [name, tensor] : file->tensors) {
    std::string old = name;
    for (const auto& [now, then] : names) {
      if (old.rfind(now, 0) == 0) old.replace(0, now.size(), then);
    }
    if (name == "mix.weight, transposed.m") add("val_16.m", tensor);  // of zeros of an LSTM
    if (untrained.empty() || old.rfind(untrained, 0) != 0) add(old, tensor);
  }
  REQUIRE_THAT(WriteSafetensors(to, tensors, {{"step", file->metadata.at("step")}}), IsOk());
}

// Training of the LSTM of tests/models/exported, from PyTorch's default exporter.
struct Exported {
  explicit Exported(const std::string& name) : scratch(ScratchFolder("resume_" + name)) {}
  void Plan(const std::string& flags) const {
    Succeed("cd " + scratch + " && yuba partition " + model + " --devices 2 --train adam " +
            "--loss mse -o p.json " + flags + " && yuba compile " + model + " p.json -o p.yuba");
  }
  CommandResult Do(const std::string& command, const std::string& flags) const {
    return RunCommand("cd " + scratch + " && " + command + " --input x=" + folder +
                      "/x.npy --input labels=" + folder + "/labels.npy --json --steps " + flags);
  }
  Losses Run(const std::string& flags) const { return LossesOf(Do(run, flags)); }
  static Losses LossesOf(const CommandResult& ran) {
    INFO(ran.error);
    REQUIRE(ran.exit_code == 0);
    return nlohmann::json::parse(ran.out)["numbers"]["loss"];
  }
  const std::string folder = RepositoryFile("tests/models/exported/sequence"),
                    model = folder + "/default.onnx", run = "yuba run " + model + " p.json";
  std::string scratch;
};

TEST_CASE("an old checkpoint has parameters in another form by the names of the file") {
  const Exported exported("old");
  exported.Plan("");
  const Losses all = exported.Run("5");
  exported.Run("2 --save new.st");
  WriteOld(exported.scratch + "/new.st", exported.scratch + "/old.st", "");
  for (const std::string& command : {exported.run, std::string("yuba-run p.yuba")}) {
    const CommandResult ran = exported.Do(command, "5 --resume old.st");
    CHECK(Exported::LossesOf(ran) == Behind(all, 2));
    INFO(ran.error);
    CHECK(ran.error.find("note: old.st: an older version wrote it") != std::string::npos);
    CHECK(
        ran.error.find("has older names of val_41 (rnn.weight_ih_l0, gates reordered), val_42 (") !=
        std::string::npos);
    CHECK(ran.error.find("has val_16.m, of what its run trained and this one does not") !=
          std::string::npos);
  }
}

TEST_CASE("an old checkpoint lacks parameters of one element, which its run did not train") {
  const Exported exported("old_numbers");
  exported.Plan("--freeze head.bias");
  exported.Run("2 --save new.st");
  WriteOld(exported.scratch + "/new.st", exported.scratch + "/old.st", "head.bias");
  WriteOld(exported.scratch + "/new.st", exported.scratch + "/other.st", "head.weight");
  exported.Plan("");
  const CommandResult ran = exported.Do(exported.run, "5 --resume old.st");
  CHECK(Exported::LossesOf(ran) == exported.Run("5 --resume new.st --override freeze"));
  INFO(ran.error);
  CHECK(ran.error.find("does not have head.bias, head.bias.m, head.bias.v, which begin as in") !=
        std::string::npos);
  const CommandResult other = exported.Do(exported.run, "5 --resume other.st");
  CHECK(other.exit_code == 2);
  CHECK(other.error.find("lacks head.weight") != std::string::npos);
}

}  // namespace
}  // namespace yuba
