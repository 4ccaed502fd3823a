// Predicted times: `yuba run --backend model`, and `--machine` beside a real run.
#include <algorithm>
#include <catch2/catch.hpp>
#include <fstream>
#include <set>
#include <string>

#include "nlohmann/json.hpp"
#include "tests/support/command.h"

namespace yuba::tools {
namespace {

using Json = nlohmann::json;

struct Planned {
  explicit Planned(const std::string& name, int devices)
      : folder(ScratchFolder("predict" + std::to_string(devices))),
        model(RepositoryFile("tests/models/" + name + "/model.onnx")),
        plan(folder + "/plan.json") {
    Succeed("yuba partition " + model + " --devices " + std::to_string(devices) + " -o " + plan);
  }
  std::string Command() const { return "yuba run " + model + " " + plan + " "; }

  std::string folder, model, plan;
};

// A machine of eight virtual devices on two processors, all of it made up.
std::string MachineFile(const std::string& folder) {
  const std::string file = folder + "/machine.json";
  const auto made_up = [](double value) { return Json{{"value", value}, {"source", "made up"}}; };
  const Json kernel = {{"start", 1e-6},
                       {"rate_share", 0.2},
                       {"bandwidth_share", 1},
                       {"half_rate", 0},
                       {"source", "made up"}};
  Json device = {{"name", "host"},
                 {"memory", {{"value", 8000000000}, {"source", "made up"}}},
                 {"reserved", {{"value", 0}, {"source", "made up"}}},
                 {"bandwidth", made_up(2e10)},
                 {"launch", made_up(1e-7)},
                 {"issue", made_up(0)},
                 {"rates", {{"f32", made_up(1e11)}}},
                 {"processors", {{"value", 2}, {"source", "made up"}}}};
  for (const char* name : {"product", "convolution", "map", "reduction"})
    device["kernels"]["generated"][name] = kernel;
  device["kernels"]["library"] = Json::object();
  const Json link = {{"name", "memory"},
                     {"devices", {{"value", 8}, {"source", "made up"}}},
                     {"latency", made_up(4e-6)},
                     {"bandwidth", made_up(5e9)}};
  std::ofstream(file) << Json{
      {"format", "yuba-machine/1"}, {"name", "machine"}, {"device", device}, {"links", {link}}};
  return file;
}

Json TraceOf(const std::string& file) {
  std::ifstream stream(file);
  return Json::parse(stream)["traceEvents"];
}

TEST_CASE("the back end model says what a step takes on a machine, and computes nothing") {
  const Planned planned("mlp", 8);
  const std::string trace = planned.folder + "/trace.json";
  const Json printed = Json::parse(
      Succeed(planned.Command() + "--backend model --machine hgx-h100 --json --trace " + trace)
          .out);
  CHECK(printed["machine"] == "hgx-h100");
  CHECK(printed["devices"] == 8);
  REQUIRE(printed["predicted"].size() == 3);
  const Json& as_run = printed["predicted"][0];
  CHECK(as_run["policy"] == "repeatable");
  CHECK(printed["predicted"][1]["policy"] == "ordered");
  CHECK(printed["predicted"][2]["policy"] == "fast");
  CHECK(as_run["seconds"] > 0);
  CHECK(as_run["groups"] <= as_run["exchanges"]);
  double kinds = 0;  // of the stream of kernels
  for (const auto& [name, seconds] : as_run["kinds"].items())
    kinds += name == "exchanges" ? 0 : seconds.get<double>();
  CHECK(kinds == Approx(as_run["seconds"].get<double>()));
  const Json one_stream = Json::parse(
      Succeed(planned.Command() + "--backend model --machine hgx-h100 --no-overlap --json").out);
  CHECK(one_stream["predicted"][0]["seconds"] >= as_run["seconds"]);
  // A track for each class of devices; what it does, with its time.
  double end = 0;
  std::set<int> tracks;
  for (const Json& event : TraceOf(trace)) {
    if (event["ph"] != "X") continue;
    tracks.insert(event["tid"].get<int>());
    end = std::max(end, event["ts"].get<double>() + event["dur"].get<double>());
    CHECK(event["args"]["predicted_ms"] == Approx(1e-3 * event["dur"].get<double>()));
  }
  CHECK(static_cast<int>(tracks.size()) == as_run["classes"]);
  CHECK(end == Approx(1e6 * as_run["seconds"].get<double>()));
  const std::string text =
      Succeed(planned.Command() + "--backend model --machine hgx-h100 --steps 10").out;
  CHECK_THAT(text, Catch::Contains("8 devices of hgx-h100, predicted: nothing is computed"));
  CHECK_THAT(text, Catch::Contains("predicted step"));
  CHECK_THAT(text, Catch::Contains("10 steps: "));
}

TEST_CASE("what the back end model moves is what the plan promises") {
  const Planned planned("conv", 6);
  const Json predicted = Json::parse(
      Succeed(planned.Command() + "--backend model --machine hgx-h100 --json").out)["predicted"];
  const Json run = Json::parse(Succeed(planned.Command() + "--random --json").out);
  CHECK(predicted[0]["bytes"] == run["bytes"]);
}

TEST_CASE("a run on a machine prints what was predicted beside what was measured") {
  const Planned planned("mlp", 2);
  const std::string machine = MachineFile(planned.folder);
  const std::string trace = planned.folder + "/trace.json";
  const std::string run = planned.Command() + "--random --machine " + machine;
  const std::string text = Succeed(run + " --trace " + trace).out;
  CHECK_THAT(text, Catch::Contains("predicted") && Catch::Contains("measured"));
  CHECK_THAT(text, Catch::Contains("products") && Catch::Contains("exchanges"));
  int with = 0;
  for (const Json& event : TraceOf(trace)) {
    if (event["ph"] == "X") with += event["args"].contains("predicted_ms");
  }
  CHECK(with > 10);
  const Json printed = Json::parse(Succeed(run + " --json").out);
  CHECK(printed["predicted"][0]["kinds"]["products"] > 0);
  CHECK(printed["last_step_kinds"]["products"] > 0);
}

TEST_CASE("the back end model refuses what needs values, and machines that do not fit") {
  const Planned planned("mlp", 16);
  const auto refused = [&](const std::string& flags, const std::string& why) {
    const CommandResult result = RunCommand(planned.Command() + flags);
    CHECK(result.exit_code == 2);
    CHECK_THAT(result.error, Catch::Contains(why));
    CHECK(result.out.empty());
  };
  refused("--backend model", "needs the machine to predict for: --machine");
  refused("--backend model --machine nowhere", "nowhere");
  refused("--backend model --machine hgx-h100", "is for 16 devices, and hgx-h100 has 8");
  for (const char* flag : {"--outputs out", "--expect 0.1", "--save out", "--log out",
                           "--guard nan", "--interleave 3", "--no-graph", "--tune t.json"}) {
    refused("--backend model --machine hgx-h100:2 " + std::string(flag), "computes nothing, so --");
  }
  // GPUs of another machine do not run what is compiled for processors.
  refused("--random --machine hgx-h100:2", "compiled for the target host");
}

}  // namespace
}  // namespace yuba::tools
