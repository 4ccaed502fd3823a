// `yuba compare --machines`, and what checkpoints and lost nodes cost.
#include <catch2/catch.hpp>
#include <cmath>

#include "nlohmann/json.hpp"
#include "tests/support/command.h"
#include "tools/compare/checkpointing.h"

namespace yuba::tools {
namespace {

// A GPT in training, small enough to be planned in a second.
std::string Model() {
  const std::string file = ScratchFolder("machines") + "/mlp.onnx";
  Succeed("yuba zoo mlp --layers 2 --width 64 --classes 16 --batch 32 -o " + file);
  return file;
}
constexpr char kTrain[] = " --train adam --loss softmax-cross-entropy";

TEST_CASE("the best interval is the one by which a run is shortest") {
  for (const LossModel& losses :
       {LossModel{3600 * 390.0, 60, 60}, LossModel{3600, 120, 300}, LossModel{86400, 1, 0}}) {
    const double best = BestInterval(losses), least = LengthenedBy(losses, best);
    CHECK(least > 1);
    for (double factor = 0.1; factor < 10; factor *= 1.1) {
      CHECK(LengthenedBy(losses, best * factor) >= least * (1 - 1e-4));
    }
    // Young's interval, where a checkpoint takes little time.
    const double young = std::sqrt(2 * losses.write * losses.between_losses);
    CHECK(std::abs(best / young - 1) < 0.2);
  }
  // The example of the header.
  const LossModel losses = {3600 * 50000.0 / 128, 60, 60};
  CHECK(std::abs(BestInterval(losses) / 3600 - 3.6) < 0.01);
  CHECK(std::abs(LengthenedBy(losses, BestInterval(losses)) - 1.0094) < 0.0001);
  // Without losses that matter a run takes what its steps and checkpoints take.
  CHECK(std::abs(LengthenedBy({1e12, 10, 0}, 90) - 100.0 / 90) < 1e-6);
}

TEST_CASE("a row for each machine: seconds, memory, hours and dollars") {
  const std::string line =
      "yuba compare " + Model() + kTrain + " --machines hgx-h100:2,host --steps 36000000 --json";
  const nlohmann::json rows = nlohmann::json::parse(Succeed(line).out)["machines"];
  REQUIRE(rows.size() == 2);
  CHECK(rows[0]["machine"] == "hgx-h100:2");
  CHECK(rows[0]["devices"] == 16);
  CHECK(rows[1]["devices"] == 8);
  for (const nlohmann::json& row : rows) {
    const double seconds = row["step_seconds"], share = row["exchange_share"];
    CHECK(seconds > 0);
    CHECK((share >= 0 && share < 1));
    CHECK(row["fits"] == (row["arena"] <= row["device_memory"]));
    CHECK(std::abs(row["hours"].get<double>() / (10000 * seconds) - 1) < 1e-9);
    CHECK(row["checkpoints"].is_null());
  }
  // Two nodes at 98.32 $ an hour; the host has no price.
  CHECK(std::abs(rows[0]["dollars"].get<double>() / rows[0]["hours"].get<double>() - 2 * 98.32) <
        1e-6);
  CHECK(rows[1]["dollars"].is_null());
  // One node of two is paid for where the devices are on one.
  const nlohmann::json one =
      nlohmann::json::parse(Succeed("yuba compare " + Model() + kTrain +
                                    " --machines hgx-h100:2 --devices 8 --steps 1000 --json")
                                .out)["machines"][0];
  CHECK(std::abs(one["dollars"].get<double>() / one["hours"].get<double>() - 98.32) < 1e-6);
}

TEST_CASE("checkpoints are as large as what steps carry, and lengthen a run") {
  const std::string line = "yuba compare " + Model() + kTrain +
                           " --machines hgx-h100:2 --steps 36000000 --json --mtbf 1000 "
                           "--checkpoint-bandwidth 1MB";
  const auto row = [&](const std::string& flags) {
    return nlohmann::json::parse(Succeed(line + flags).out)["machines"][0];
  };
  const nlohmann::json best = row(""), seldom = row(" --checkpoint-interval 100");
  const nlohmann::json made = best["checkpoints"];
  const double bytes = made["bytes"], seconds = made["write_seconds"];
  CHECK(std::abs(seconds - bytes / 1e6) < 1e-9);
  CHECK(made["interval_hours"] == made["best_interval_hours"]);
  const LossModel losses = {1000 * 3600.0 / 2, seconds, seconds};
  CHECK(std::abs(made["best_interval_hours"].get<double>() * 3600 - BestInterval(losses)) < 1e-3);
  CHECK(seldom["checkpoints"]["interval_hours"] == 100);
  CHECK(seldom["hours"] > best["hours"]);
  const std::string text = Succeed("yuba compare " + Model() + kTrain +
                                   " --machines hgx-h100:2 --mtbf 1000 "
                                   "--checkpoint-bandwidth 1MB")
                               .out;
  CHECK(text.find("the best interval") != std::string::npos);
  CHECK(text.find("price") == std::string::npos);
}

TEST_CASE("flags of machines that do not go together are refused") {
  const std::string line = "yuba compare " + Model();
  const std::pair<const char*, const char*> refused[] = {
      {" --machines hgx-h100 --mesh data=2,model=4", "names axes of one machine"},
      {" --machines hgx-h100 --machine dgx-a100", "excludes"},
      {" --machines hgx-h100 --mtbf 10", "--checkpoint-bandwidth"},
      {" --machines hgx-h100,nothing", "nothing"},
      {" --machines ,", "names no machine"},
      {" --machines hgx-h100,none", "\"none\" has no times"},
      {" --steps 10", "--machines"},
      {" --machines hgx-h100 --steps 0", "--steps"},
  };
  for (const auto& [flags, words] : refused) {
    INFO(flags);
    const CommandResult result = RunCommand(line + flags);
    INFO(result.error);
    CHECK(result.exit_code == 2);
    CHECK(result.error.find(words) != std::string::npos);
  }
}

}  // namespace
}  // namespace yuba::tools
