// `yuba compare`: what each baseline would do with the test models, and what the command says of a
// search. e2e/every_plan_test runs the baselines' plans.
#include <algorithm>
#include <catch2/catch.hpp>
#include <fstream>

#include "nlohmann/json.hpp"
#include "tests/support/command.h"

namespace yuba::tools {
namespace {

std::string ModelFile(const std::string& name) {
  return RepositoryFile("tests/models/" + name + "/model.onnx");
}

nlohmann::json Plans(const std::string& line) {
  return nlohmann::json::parse(Succeed(line).out)["plans"];
}

TEST_CASE(
    "compare shows every search, the default first and cheapest of those that replicate nothing") {
  const nlohmann::json plans =
      Plans("yuba compare " + ModelFile("encoder") + " --devices 8 --json");
  REQUIRE(plans.size() == 14);
  CHECK(plans[0]["search"] == "default");
  CHECK(plans[1]["search"] == "no copies");
  CHECK(plans[2]["search"] == "recursive");
  for (const nlohmann::json& plan : plans) {
    INFO(plan["search"]);
    CHECK((plan["replicate"] == "auto" || plan["bytes"] >= plans[0]["bytes"]));
    CHECK(plan["peak_memory"] > 0);
    const nlohmann::json& more = plan["more_than_default"];
    const auto moved = [](const nlohmann::json& row) { return row["bytes"].get<int64_t>(); };
    CHECK(moved(more) == moved(plan) - moved(plans[0]));
    int64_t kinds = 0;
    for (const nlohmann::json& bytes : more["by_kind"]) kinds += bytes.get<int64_t>();
    CHECK(kinds == moved(more));
    CHECK(plan["lower_bound"].is_null() ==
          (plan["search"] != "default" && plan["search"] != "no copies" && moved(plan) > 0));
  }
  const std::string text =
      Succeed("yuba compare " + ModelFile("encoder") + " --mesh data=2,model=4").out;
  CHECK(text.find("mesh data=2 model=4") != std::string::npos);
  CHECK(text.find("megatron") != std::string::npos);
}

TEST_CASE("compare tells what published forms hold besides, and one search of equal plans") {
  const std::string model = ScratchFolder("held") + "/mlp.onnx";
  Succeed("yuba zoo mlp --layers 2 --width 16 --classes 8 --batch 8 -o " + model);
  const nlohmann::json plans = Plans("yuba compare " + model +
                                     " --devices 4 --train adam --loss softmax-cross-entropy "
                                     "--json");
  const auto row = [&](const std::string& name) {
    return *std::find_if(plans.begin(), plans.end(),
                         [&](const auto& plan) { return plan["search"] == name; });
  };
  // Two layers of weights and biases; Adam keeps two states for each of them and a step's number,
  // which is the same on every device.
  const int64_t weights = 4 * (16 * 16 + 16 + 16 * 8 + 8);
  CHECK(row("zero2")["held_besides"] == 0);
  CHECK(row("zero3")["held_besides"] == 0);
  CHECK(row("zero1")["held_besides"] == weights * 3 / 4);
  CHECK(row("data")["held_besides"] == 3 * weights * 3 / 4);
  for (const char* name : {"zero1", "zero2"}) {
    CHECK(row(name)["bytes"] == row("data")["bytes"]);
    CHECK(row(name)["peak_memory"] == row("data")["peak_memory"]);
    CHECK(row(name)["remarks"] != row("data")["remarks"]);
  }
}

TEST_CASE("compare on one device finds that nothing moves") {
  for (const nlohmann::json& plan :
       Plans("yuba compare " + ModelFile("mlp") + " --devices 1 --json")) {
    CHECK(plan["bytes"] == 0);
  }
}

TEST_CASE("ZeRO-3 moves every weight and nothing else, behind embeddings too") {
  const nlohmann::json plans = Plans("yuba compare " + ModelFile("gpt") + " --devices 4 --json");
  const auto zero = std::find_if(plans.begin(), plans.end(),
                                 [](const auto& plan) { return plan["search"] == "zero3"; });
  REQUIRE(zero != plans.end());
  CHECK((*zero)["by_kind"]["weight"] == (*zero)["bytes"]);
  CHECK((*zero)["bytes"] > 0);
}

TEST_CASE("who looks for no bound says so") {
  const std::string folder = ScratchFolder("bound"), plan = folder + "/p.json";
  const std::string line = "yuba partition " + ModelFile("mlp") + " --devices 4 --search zero3 -o ";
  const std::string words = "no bound is known, --search zero3 looks for none";
  CHECK(Succeed(line + plan).out.find(words) != std::string::npos);
  CHECK(Succeed("yuba show " + plan).out.find(words) != std::string::npos);
}

TEST_CASE("what a model computes and stores is the same however it is planned") {
  const std::string model = ModelFile("lstm"), plan = ScratchFolder("facts") + "/p.json";
  const auto facts = [&](const std::string& options) {
    const std::string text = Succeed("yuba partition " + model + options + " -o " + plan).out;
    const std::string proof = Succeed("yuba verify " + model + " " + plan + " --json").out;
    const size_t share = text.find("(weights and inputs are");
    REQUIRE(share != std::string::npos);
    return text.substr(text.find("; "), text.find('\n') - text.find("; ")) +
           text.substr(share, text.find(')', share) - share) +
           nlohmann::json::parse(proof)["flops"].dump();
  };
  const std::string plain = facts(" --devices 4 --space accumulators=none");
  CHECK(plain.find("MFLOP a step") != std::string::npos);
  CHECK(facts(" --devices 4 --space accumulators=all") == plain);
  CHECK(facts(" --devices 4 --replicate auto") == plain);
}

TEST_CASE("compare says which searches its time limit cut short") {
  const std::string line = "yuba compare " + ModelFile("encoder") + " --devices 8 --json";
  for (const nlohmann::json& plan : Plans(line + " --time-limit 1e-9")) {
    INFO(plan["search"]);
    CHECK((plan["stopped"] == "time limit" || plan["search"] == "data"));
  }
  for (const nlohmann::json& plan : Plans(line + " --time-limit 1e6")) CHECK(plan["stopped"] == "");
}

TEST_CASE("bad input to compare and to --search is refused") {
  const std::string model = ModelFile("mlp");
  CHECK(RunCommand("yuba compare " + model + " --devices 0").exit_code == 2);
  CHECK(RunCommand("yuba compare " + model + " --devices 2 --mesh a=2").exit_code == 2);
  CHECK(RunCommand("yuba compare no-such-file.onnx").exit_code == 2);
  const CommandResult unknown = RunCommand("yuba partition " + model + " --search megatron2");
  CHECK(unknown.exit_code == 2);
  CHECK(unknown.error.find("equal-chop") != std::string::npos);
}

TEST_CASE("Tofu's space has no factors, nests by level, and is replayed") {
  const std::string model = ModelFile("gpt"), plan = ScratchFolder("tofu") + "/plan.json";
  const std::string text = Succeed("yuba partition " + model + " --space tofu -o " + plan).out;
  CHECK(text.find("level nesting, no factors") != std::string::npos);
  CHECK(text.find("Tofu's deltas") != std::string::npos);
  std::ifstream file(plan);
  const nlohmann::json json = nlohmann::json::parse(file);
  CHECK(json["space"]["factors"] == false);
  CHECK(json["space"]["nesting"] == "level");
  for (const nlohmann::json& tensor : json["tensors"]) {
    const std::string name = tensor["name"];
    INFO(name);
    if (name.find("/reshape") != std::string::npos) continue;  // as the operator after it sees them
    for (const nlohmann::json& dim : tensor["dims"]) CHECK(dim.size() == 1);
  }
  Succeed("yuba check " + model + " " + plan);
  Succeed("yuba verify " + model + " " + plan);
  CHECK(RunCommand("yuba partition " + model + " --space paper").exit_code == 2);
  CHECK(RunCommand("yuba partition " + model + " --space tofu,copies=all").exit_code == 2);
}

}  // namespace
}  // namespace yuba::tools
