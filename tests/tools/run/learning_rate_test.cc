// `yuba run --lr-schedule`: a learning rate for each step, and the line that says it.
#include <catch2/catch.hpp>
#include <fstream>
#include <string>

#include "nlohmann/json.hpp"
#include "tests/support/command.h"

namespace yuba {
namespace {

struct Training {
  Training(const std::string& name, const std::string& flags)
      : folder(ScratchFolder("rate_" + name)), models(RepositoryFile("tests/models/mlp")) {
    Succeed("yuba partition " + models + "/model.onnx --devices 2 -o " + folder + "/p.json " +
            flags + " --loss softmax-cross-entropy");
  }
  std::string Command(const std::string& flags) const {
    return "yuba run " + models + "/model.onnx " + folder + "/p.json --inputs " + models +
           "/test_data_set_0 --input labels=" + models + "/labels.pb " + flags;
  }
  nlohmann::json Numbers(const std::string& flags) const {
    return nlohmann::json::parse(Succeed(Command(flags + " --json")).out)["numbers"];
  }

  std::string folder, models;
};

TEST_CASE("a schedule gives the losses that a file with its rates gives") {
  const Training training("schedule", "--train adam --lr 0.01");
  const std::string file = training.folder + "/rates.txt";
  // cosine:0.04,warmup=1,steps=5: half the peak, the peak, and from there down.
  std::ofstream(file) << "0.02\n0.04\n0.034142135623730951\n0.02\n0.0058578643762690497\n0\n";
  const nlohmann::json by_formula =
                           training.Numbers("--steps 6 --lr-schedule cosine:0.04,warmup=1,steps=5"),
                       by_file = training.Numbers("--steps 6 --lr-schedule " + file),
                       as_planned = training.Numbers("--steps 6"),
                       constant = training.Numbers("--steps 6 --lr-schedule 0.01");
  REQUIRE(by_formula["loss"].size() == 6);
  CHECK(by_formula["loss"] == by_file["loss"]);
  for (int step = 0; step < 6; ++step) {
    CHECK(by_formula["lr"][step].get<double>() == Approx(by_file["lr"][step].get<double>()));
  }
  CHECK(constant["loss"] == as_planned["loss"]);
  CHECK(constant["loss"] != by_file["loss"]);
  const std::string out = Succeed(training.Command("--steps 2 --lr-schedule " + file)).out;
  CHECK(out.find("\nstep 2  loss ") != std::string::npos);
  CHECK(out.find("  lr 0.04  ") != std::string::npos);
  CHECK(out.find(" examples/s  moved ") != std::string::npos);
  CHECK(out.find("  ETA 0:00:00\nstep 2") != std::string::npos);
  CHECK(out.find("ETA", out.find("step 2")) == std::string::npos);  // nothing is left
}

TEST_CASE("what is computed once is computed anew where the rate changes") {
  const std::string own = ScratchFolder("rooted") + "/rooted.tdl";
  std::ofstream(own) << "op rooted(state w[s..], g[s..], lr[]) -> w'[s..]\n"
                     << "  w'[i..] = w[i..] - sqrt(lr[]) * g[i..]\n";
  // With --init the root is a value that is kept from step to step.
  const std::string rooted = "--operators " + own + " --train rooted --lr 0.01";
  const Training plain("plain", rooted), init("init", rooted + " --init");
  const std::string rates = "--steps 4 --lr-schedule linear:0.05,steps=4 --operators " + own;
  CHECK(Succeed(init.Command(rates)).out.find("\ninit 1  ") != std::string::npos);
  const nlohmann::json expected = plain.Numbers(rates)["loss"],
                       losses = init.Numbers(rates)["loss"];
  REQUIRE(losses.size() == 4);
  for (int step = 0; step < 4; ++step) {
    CHECK(losses[step].get<double>() == Approx(expected[step].get<double>()).epsilon(1e-5));
  }
}

TEST_CASE("rates that cannot be are refused before the program is compiled") {
  const Training training("refused", "--train sgd --lr 0.01");
  const auto refuses = [&](const std::string& command, const std::string& message) {
    const CommandResult ran = RunCommand(command);
    INFO(ran.error);
    CHECK(ran.exit_code == 2);
    CHECK(ran.error.find(message) != std::string::npos);
  };
  refuses(training.Command("--lr-schedule fast"),
          "--lr-schedule: fast is no number from 0 on, no schedule");
  refuses(training.Command("--lr-schedule cosine:1"), "--lr-schedule: cosine:1: steps=N is needed");
  const std::string model = training.models + "/model.onnx", plan = training.folder + "/f.json";
  Succeed("yuba partition " + model + " --devices 2 -o " + plan);
  refuses("yuba run " + model + " " + plan + " --random --lr-schedule 0.1",
          "--lr-schedule 0.1: the program has no parameter lr");
}

}  // namespace
}  // namespace yuba
