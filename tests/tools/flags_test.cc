// The tables of flags: what a plan keeps of them, also one of before, what --resume compares, and
// what contradicts itself.
#include <catch2/catch.hpp>
#include <map>
#include <string>
#include <vector>

#include "opsemantics/language/library.h"
#include "tests/support/status_matchers.h"
#include "tools/command_line.h"
#include "tools/flags/mesh_flags.h"
#include "tools/flags/model_flags.h"
#include "tools/flags/plan_options.h"
#include "tools/flags/space_flag.h"
#include "tools/run/checkpoint/run_facts.h"
#include "tools/run/run_flags.h"

namespace yuba::tools {
namespace {

using Options = std::map<std::string, std::string>;

ModelFlags Taken(const Options& options) {
  search::PlanNotes notes;
  notes.options = options;
  ModelFlags flags;
  REQUIRE_THAT(TakeOptions(notes, flags), IsOk());
  return flags;
}

// The error of reading a model as these options of a plan say, or OK.
absl::Status Import(const Options& options) {
  const OperatorLibrary library = OperatorLibrary::BuiltIn().value();
  return ImportOptionsOf(Taken(options), library).status();
}

TEST_CASE("options of a plan are the flags that it was made with, in their order") {
  const Options options = {{"dim.batch", "8"}, {"entry.0", "a:n=1"}, {"entry.1", "b*3:n=2"},
                           {"train", "adam"},  {"loss", "mse@y"},    {"freeze.emb", "0,3"},
                           {"freeze.b.*", ""}, {"init", "true"},     {"lr", "0.1"}};
  CHECK(PlanOptions(Taken(options)) == options);
}

TEST_CASE("plans of before flags had one table are read as what they meant") {
  const Options now = PlanOptions(Taken({{"entry.0", "a"},
                                         {"entry.1", "b:n=2"},
                                         {"times.b", "3"},
                                         {"train", "adam"},
                                         {"loss", "mse"},
                                         {"loss-output", "y"},
                                         {"freeze-rows.emb", "0,3"},
                                         {"eval-every", "5"}}));
  CHECK(now == Options{{"entry.0", "a"},
                       {"entry.1", "b*3:n=2"},
                       {"train", "adam"},
                       {"loss", "mse@y"},
                       {"freeze.emb", "0,3"},
                       {"eval-entry", "5"},
                       {"lr", "0.01"}});
  search::PlanNotes notes;
  notes.options = {{"times.b", "3"}};
  CHECK_THAT(CheckOptions(notes), StatusIs(absl::StatusCode::kInvalidArgument, "options.times.b"));
}

TEST_CASE("a flag of a plan without the one that it needs is an error, whoever wrote the plan") {
  for (const ModelFlag& flag : ModelFlagTable()) {
    if (*flag.needs == '\0') continue;
    INFO(flag.name);
    const bool keyed = flag.form == FlagForm::kNamed;
    const std::string name = keyed ? std::string(flag.name) + ".a" : flag.name;
    CHECK_THAT(Import({{name, flag.form == FlagForm::kSwitch ? "true" : "1"}}),
               StatusIs(absl::StatusCode::kInvalidArgument, std::string("--") + flag.name));
  }
}

TEST_CASE("a plan with two losses is refused like a command line") {
  CHECK_THAT(Import({{"train", "adam"}, {"loss", "mse"}, {"minimize", "y"}}),
             StatusIs(absl::StatusCode::kInvalidArgument, "--minimize y and --loss mse"));
}

TEST_CASE("the field of the entry that is wrong is named") {
  search::PlanNotes notes;
  notes.options = {{"entry.0", "a:n=1"}, {"entry.1", "b:n=0"}};
  const absl::Status named = NameOptions(Import(notes.options), ModelFlags(), "p.json", notes);
  CHECK(std::string(named.message()).find("options.entry.1") != std::string::npos);
  CHECK(std::string(named.message()).find("options.entry.0") == std::string::npos);
}

TEST_CASE("what decides what a step computes is compared") {
  CHECK(SettingsOf(Taken({{"train", "adam"},
                          {"loss", "mse@y"},
                          {"freeze.l.*", ""},
                          {"freeze.emb", "0,3"},
                          {"precision", "f32"},
                          {"lr", "0.1"}})) ==
        Options{{"train", "adam"}, {"loss", "mse@y"}, {"freeze", "emb=0,3"}});
}

// A new flag of training computes, or is named here with what is compared instead.
TEST_CASE("flags of training that --resume does not compare are known") {
  std::vector<std::string> rest;
  for (const ModelFlag& flag : ModelFlagTable()) {
    if (flag.group == std::string("Training") && !flag.computes) rest.push_back(flag.name);
  }
  CHECK(rest == std::vector<std::string>{
                    "metrics",                   // changes no weight
                    "trainable",                 // the tensors themselves
                    "allow-missing-parameters",  // likewise
                    "tie",                       // likewise
                    "lr",                        // its value, as lr-schedule
                    "micro-batches",             // sums in another order
                    "eval-entry",                // changes no weight
                });
}

TEST_CASE("checkpoints of before say the same by today's names") {
  const RunFacts facts =
      ParseFacts(R"({"settings": {"loss": "mse", "loss-output": "y", "freeze-rows": "emb=0,3"}})")
          .value();
  CHECK(facts.settings == Options{{"loss", "mse@y"}, {"freeze", "emb=0,3"}});
}

TEST_CASE("numbers are decimal, whatever they begin with") {
  for (const CLI::Validator& number : {WholeNumber(1, 100), Seed()}) {
    std::string text = "010";
    CHECK(number(text).empty());
    CHECK(text == "10");
  }
  CLI::App app;
  RunFlags flags;
  AddRunFlags(&app, flags);
  app.parse("--steps 010 --shuffle 09 --data .");
  CLI::App plans;
  MeshFlags mesh;
  AddMeshFlags(&plans, mesh);
  plans.parse("--devices 012");
  CHECK(flags.steps == 10);
  CHECK(flags.shuffle == 9);
  CHECK(mesh.devices == 12);
}

TEST_CASE("the machine is the one whose GPUs are here, if all are equal") {
  const cuda::GpuFacts h100{"NVIDIA H100 80GB HBM3", 85'000'000'000, 90};
  const ChosenMachine four = MachineWith({h100, h100, h100, h100});
  REQUIRE(four.machine != nullptr);
  CHECK(four.machine->name == "hgx-h100");
  CHECK(four.found);
  CHECK(four.gpus == 4);
  cuda::GpuFacts other = h100;
  other.name = "NVIDIA Unheard Of";
  for (const std::vector<cuda::GpuFacts>& gpus :
       {std::vector<cuda::GpuFacts>{other}, {h100, other}}) {
    const ChosenMachine none = MachineWith(gpus);
    CHECK(none.machine == nullptr);
    CHECK_THAT(none.why_none, Catch::Contains("yuba calibrate"));
  }
  CHECK(MachineWith({}).why_none.empty());
  CHECK(ChooseMachine("none")->machine == nullptr);
  CHECK_FALSE(ChooseMachine("dgx-a100")->found);
  CHECK_THAT(ChooseMachine("dgx"), StatusIs(absl::StatusCode::kInvalidArgument, "--machine"));
}

TEST_CASE("words of a space that contradict each other are refused") {
  CHECK(ParseSpace({"flat", "copies=none,flat"})->copies == false);
  CHECK(ParseSpace({})->dimensions == "default");
  for (const std::vector<std::string>& words : {std::vector<std::string>{"flat,factored"},
                                                {"copies=all", "copies=none"},
                                                {"partials=none,partials=auto"},
                                                {"tofu,copies=all"}}) {
    INFO(words[0]);
    CHECK_THAT(ParseSpace(words), StatusIs(absl::StatusCode::kInvalidArgument, "--space"));
  }
  CHECK_THAT(ParseSpace({"copies=some"}),
             StatusIs(absl::StatusCode::kInvalidArgument, "there is no"));
}

}  // namespace
}  // namespace yuba::tools
