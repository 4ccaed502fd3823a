// A decoder as exporters write it, whose caches grow by Concat, with two entries that share weights
// and caches: `prefill` takes eight tokens at once, `decode` sixteen more, one by one. The expected
// logits are those of the whole sequence (tests/models/decoder_past/make.py).
#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "nlohmann/json.hpp"
#include "tests/support/command.h"
#include "tests/support/part.h"

namespace yuba {
namespace {

std::string Folder() { return RepositoryFile("tests/models/decoder_past"); }
std::string Model() { return Folder() + "/model.onnx"; }

constexpr char kEntries[] =
    " --dim batch=3 --cache 'past_*=present_*:24' --entry prefill:sequence=8 "
    "--entry decode*16:sequence=1 ";

std::string Planned(const std::string& options) {
  const std::string plan = ScratchFolder("entries") + "/plan.json";
  Succeed("yuba partition " + Model() + kEntries + options + " -o " + plan);
  return plan;
}

size_t Count(const std::string& text, const std::string& word) {
  size_t count = 0;
  for (size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + 1)) ++count;
  return count;
}

nlohmann::json Read(const std::string& file) {
  std::ifstream stream(file);
  return nlohmann::json::parse(stream);
}

TEST_CASE("prefill once and decode 16 times give the logits of the whole sequence") {
  const std::vector<std::string> plans = {"--devices 1", "--devices 8 --space tofu",
                                          "--devices 2", "--devices 8",
                                          "--devices 3", "--devices 6 --replicate auto"};
  for (size_t p = 0; p < plans.size(); ++p) {
    const std::string& options = plans[p];
    if (!IsTried(p + 1, 2)) continue;
    INFO(options);
    const std::string plan = Planned(options);
    Succeed("yuba check " + Model() + " " + plan);  // the plan knows its entries and caches
    const CommandResult verified = Succeed("yuba verify " + Model() + " " + plan);
    CHECK(verified.out.find("bit for bit") != std::string::npos);
    CHECK(verified.out.find("after 3 steps of each entry") != std::string::npos);
    for (const char* executor : {"", " --interleave 7 --guard memory"}) {
      const CommandResult ran = Succeed("yuba run " + Model() + " " + plan + " --inputs " +
                                        Folder() + " --expect 2e-5" + executor);
      CHECK(Count(ran.out, "ok   prefill:logits") == 1);
      CHECK(Count(ran.out, "ok   decode:logits of step ") == 16);
    }
  }
}

TEST_CASE("a weight and a cache have one sharding for all entries, and costs add up") {
  const nlohmann::json plan = Read(Planned("--devices 8"));
  size_t weights = 0, caches = 0;
  for (const auto& tensor : plan["tensors"]) {
    weights += tensor["name"] == "embed_tokens.weight";
    caches += tensor["name"] == "past_key_0";
  }
  CHECK(weights == 1);
  CHECK(caches == 1);
  int64_t moved = 0;
  for (const auto& transfer : plan["transfers"]) moved += transfer["bytes"].get<int64_t>();
  CHECK(moved == plan["cost"]["bytes"]);
  REQUIRE(plan["entries"].size() == 2);
  CHECK(plan["entries"][0]["name"] == "prefill");
  CHECK(plan["entries"][1]["times"] == 16);
  CHECK(plan["entries"][0]["bytes"].get<int64_t>() +
            16 * plan["entries"][1]["bytes"].get<int64_t>() ==
        moved);
}

TEST_CASE("a compiled program runs the entries that are asked for, as often") {
  const std::string plan = Planned("--devices 2"), program = plan + ".yuba";
  Succeed("yuba compile " + Model() + " " + plan + " -o " + program);
  const CommandResult ran =
      Succeed("yuba-run " + program + " --inputs " + Folder() +
              " --expect 2e-5 --entry prefill --entry decode*5 --outputs " + plan + ".out");
  CHECK(Count(ran.out, "ok   decode:logits of step ") == 5);
  CHECK(std::filesystem::exists(plan + ".out/prefill/output_0.npy"));
  CHECK(std::filesystem::exists(plan + ".out/decode/output_4.npy"));
}

TEST_CASE("decoding before any prompt is the same as a prompt of no tokens") {
  // The first token of the prompt alone: its logits are those of the first position.
  const std::string plan = Planned("--devices 3");
  const CommandResult ran = RunCommand("yuba run " + Model() + " " + plan + " --inputs " +
                                       Folder() + " --expect 2e-5 --entry decode");
  CHECK(ran.exit_code == 1);  // these expected values follow a prompt
  CHECK(ran.out.find("WRONG decode:logits of step 1") != std::string::npos);
}

TEST_CASE("what never changes is computed once, whatever inputs a step has") {
  const std::string lstm = RepositoryFile("tests/models/lstm");
  const std::string scratch = ScratchFolder("init");
  for (const char* step : {"/test_data_set_0", "/test_data_set_1"})
    std::filesystem::copy(lstm + "/test_data_set_0", scratch + step);
  const CommandResult planned = Succeed(
      "yuba partition " + lstm + "/model.onnx --init --devices 3 -o " + scratch + "/plan.json");
  CHECK(planned.out.find("init 3.8 kB") != std::string::npos);
  // A run that moves other bytes than the plan says fails.
  const CommandResult ran = Succeed("yuba run " + lstm + "/model.onnx " + scratch +
                                    "/plan.json --inputs " + scratch + " --expect 2e-5");
  CHECK(Count(ran.out, "ok   ") == 2);
  CHECK(Count(ran.out, "init 1  ") == 1);
}

TEST_CASE("tokens beyond the caches are an error") {
  const std::string plan = ScratchFolder("full_cache") + "/plan.json";
  Succeed("yuba partition " + Model() +
          " --dim batch=3 --cache 'past_*=present_*:20' --entry prefill:sequence=8 "
          "--entry decode:sequence=1 --devices 2 -o " +
          plan);
  const std::string run = "yuba run " + Model() + " " + plan + " --inputs " + Folder() +
                          " --expect 2e-5 --entry prefill --entry decode*";
  CHECK(Count(Succeed(run + "12").out, "ok   decode:logits of step ") == 12);
  const CommandResult full = RunCommand(run + "13");
  CHECK(full.exit_code == 2);
  CHECK(full.error.find("21 rows (past") != std::string::npos);
  CHECK(full.error.find("they have 20") != std::string::npos);
  CHECK(Count(full.out, "ok   decode:logits of step ") == 12);
}

TEST_CASE("what is wrong with entries and caches is said") {
  const std::string plan = Planned("--devices 2");
  const auto error = [](const std::string& command) {
    const CommandResult ran = RunCommand(command);
    CHECK(ran.exit_code == 2);
    return ran.error;
  };
  const std::string partition = "yuba partition " + Model() + " --dim batch=3 ";
  const std::string cache = "--cache 'past_*=present_*:24' ";
  CHECK(error("yuba run " + Model() + " " + plan + " --inputs " + Folder() + " --entry encode")
            .find("it has prefill, decode") != std::string::npos);
  CHECK(error("yuba run " + Model() + " " + plan + " --inputs " + Folder() + " --steps 3")
            .find("--entry prefill*3") != std::string::npos);
  CHECK(error("yuba run " + Model() + " " + plan + " --inputs " + Folder() + " --entry decode*17")
            .find("16 steps") != std::string::npos);
  CHECK(error(partition + cache + "--entry prefill:sequence=25").find("25 rows to caches of 24") !=
        std::string::npos);
  CHECK(error(partition + "--cache past_key_0=logits:24 --dim sequence=1")
            .find("no Concat of 'past_key_0'") != std::string::npos);
  CHECK(
      error(partition + "--cache 'old_*=present_*:24' --dim sequence=1").find("no input 'old_*'") !=
      std::string::npos);
  CHECK(
      error(partition + cache + "--entry a:sequence=1 --entry a:sequence=2").find("given twice") !=
      std::string::npos);
  CHECK(error(partition + cache + "--entry a*0:sequence=1").find("expected NAME*TIMES") !=
        std::string::npos);
  CHECK(error(partition + cache + "--entry 'a b:sequence=1'").find("letters, digits") !=
        std::string::npos);
  CHECK(error(partition + cache + "--dim sequence=1 --dim past=3").find("that of --cache") !=
        std::string::npos);
}

}  // namespace
}  // namespace yuba
