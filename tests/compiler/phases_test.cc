// The phases one by one: run in parts, shown, and verified.
#include "compiler/phases.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <filesystem>
#include <functional>
#include <set>
#include <sstream>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "compiler/front_end.h"
#include "opsemantics/base/files.h"
#include "search/file/plan_file.h"
#include "tests/compiler/support/onnx_builder.h"
#include "tests/compiler/support/whole_model.h"
#include "tests/support/status_matchers.h"

namespace yuba::compiler {
namespace {

using Catch::Matchers::Contains;

// relu(x w), with values of w.
std::string Product() {
  OnnxBuilder builder;
  builder.Input("x", {8, 6});
  builder.Weight("w", {6, 10});
  builder.Node("MatMul", {"x", "w"}, {"z"});
  builder.Node("Relu", {"z"}, {"y"});
  builder.Output("y");
  return builder.Save();
}

Compilation Request(const std::string& output) {
  Compilation compilation;
  compilation.request.model_file = Product();
  compilation.request.import.library = &BuiltInLibrary();
  compilation.request.search.mesh = MeshOf(4);
  compilation.request.output_file = output;
  compilation.request.version = "1";
  return compilation;
}

Compilation Training() {
  Compilation compilation = Request("");
  onnx::TrainOptions train;
  train.optimizer = "sgd";
  train.loss = "mse";
  compilation.request.import.train = train;
  return compilation;
}

absl::Status Run(const std::string& from, const std::string& to, Compilation& compilation,
                 const std::string& dump = "", std::ostream* log = nullptr) {
  PhaseOptions options;
  options.from = from;
  options.to = to;
  options.dump_dir = dump;
  options.log = log;
  return RunPhases(options, compilation);
}

TEST_CASE("phases that run one by one make the same program") {
  const std::string whole_file = TemporaryFile("whole.yuba"), file = TemporaryFile("parts.yuba");
  Compilation whole = Request(whole_file), parts = Request(file);
  std::ostringstream log;
  REQUIRE_THAT(Run("", "", whole, "", &log), IsOk());
  for (const Phase& phase : Phases()) {
    INFO(phase.name);
    CHECK_THAT(log.str(), Contains(phase.name) && Contains(phase.what));
    REQUIRE_THAT(Run(phase.name, phase.name, parts), IsOk());
  }
  CHECK(parts.program.SerializeAsString() == whole.program.SerializeAsString());
  CHECK(*ReadFile(file) == *ReadFile(whole_file));
}

// The names of the files in the order of the phases, and what the one of that phase says.
std::vector<std::string> FilesIn(const std::string& folder) {
  std::vector<std::string> files;
  for (const auto& file : std::filesystem::directory_iterator(folder)) {
    files.push_back(file.path().filename());
  }
  std::sort(files.begin(), files.end());
  return files;
}

std::string StateAfter(const std::string& phase, const std::string& folder) {
  for (const std::string& file : FilesIn(folder)) {
    if (absl::EndsWith(file, absl::StrCat("-", phase, ".txt"))) {
      return *ReadFile(absl::StrCat(folder, "/", file));
    }
  }
  FAIL("no state after " << phase);
  return "";
}

TEST_CASE("a run may stop after any phase, and shows as many states") {
  const std::string folder = TemporaryFile("dump");
  Compilation compilation = Request("");
  REQUIRE_THAT(Run("", "spmd", compilation, folder), IsOk());
  CHECK(compilation.program.instructions_size() > 0);
  CHECK(compilation.program.arena_size() == 0);
  CHECK(StateAfter("spmd", folder) != "");
  std::string shown, run;
  for (const std::string& file : FilesIn(folder)) {
    shown += file.substr(file.find('-'));
  }
  for (const Phase& phase : Phases()) {
    run += absl::StrCat("-", phase.name, ".txt");
    if (phase.name == std::string("spmd")) break;
  }
  CHECK(shown == run);
  REQUIRE_THAT(Run("recognise", "memory", compilation), IsOk());
  CHECK(compilation.program.arena_size() > 0);
}

TEST_CASE("a graph is shown before and after training, and after its states are carried") {
  const std::string folder = TemporaryFile("training");
  Compilation compilation = Training();
  REQUIRE_THAT(Run("", "carry", compilation, folder), IsOk());
  const std::string before = StateAfter("simplify", folder), after = StateAfter("train", folder),
                    carried = StateAfter("carry", folder);
  CHECK_THAT(before, Contains("weight \"w\"") && !Contains("\"w'\"") && !Contains("trainable"));
  CHECK_THAT(after, Contains("weight \"w\"") && Contains("trainable \"w\""));
  CHECK_THAT(after, !Contains(" next "));
  CHECK_THAT(carried, Contains("weight \"w\" f32 [6, 10]") && Contains(" next "));
}

TEST_CASE("mistakes in the choice of phases are explained") {
  Compilation compilation = Request("");
  const auto message = [&](const std::string& from, const std::string& to) {
    const absl::Status status = Run(from, to, compilation);
    CHECK_THAT(status, StatusIs(absl::StatusCode::kInvalidArgument));
    return std::string(status.message());
  };
  CHECK_THAT(message("cutting", ""), Contains("there is no phase cutting; there are import, "));
  CHECK_THAT(message("emit", "spmd"), Contains("comes after"));
}

// What a phase might leave wrong, and what its verifier then says.
TEST_CASE("each phase of the front end has a verifier that sees what is wrong") {
  struct Fault {
    const char* phase;
    void (*make)(Compilation&);
    const char* why;
  };
  const Fault faults[] = {
      {"import", [](Compilation& c) { c.model.gradient_rules = {{{{7, 0}}, {}, 0, 0}}; },
       "a rule for gradients names inputs or outputs"},
      {"import", [](Compilation& c) { c.model.gradient_rules = {{{}, {{0, 9}}, 0, 0}}; },
       "a rule for gradients names inputs or outputs"},
      {"simplify",
       [](Compilation& c) {
         Tensor unread = c.model.graph.tensors[1];  // the canonical order leaves it out
         unread.name = "unread";
         c.model.graph.tensors.push_back(unread);
         Link(c.model.graph);
       },
       "not in its canonical order"},
      {"train", [](Compilation& c) { c.model.gradient_rules.resize(1); },
       "rules for gradients are"},
      {"train", [](Compilation& c) { c.updated[0].next = "other"; }, "is not the next value of w"},
      {"train", [](Compilation& c) { c.updated[0].next = "w"; }, "is not the next value of w"},
      {"carry", [](Compilation& c) { c.updated.push_back({"x", "y"}); }, "x is not carried"},
      {"cluster", [](Compilation& c) { c.model.clusters = {{1, {0}, 0}}; }, "a cluster of 1 nodes"},
  };
  std::set<std::string> seen = {"order"};  // which tests/compiler/order is about
  for (const Fault& fault : faults) seen.insert(fault.phase);
  for (const Phase& phase : Phases()) {
    if (phase.name == std::string("search")) break;
    INFO(phase.name);
    CHECK(seen.count(phase.name) == 1);
  }
  for (const Fault& fault : faults) {
    INFO(fault.phase << ": " << fault.why);
    Compilation compilation = Training();
    REQUIRE_THAT(Run("", fault.phase, compilation), IsOk());
    fault.make(compilation);
    for (const Phase& phase : Phases()) {
      if (phase.name != std::string(fault.phase)) continue;
      CHECK_THAT(phase.verify(compilation), Fails(fault.why));
    }
  }
}

// The plan's own file, given back with something else in it.
TEST_CASE("a plan that was given is attached where it is legal and moves what it says") {
  Compilation planned = Request("");
  REQUIRE_THAT(Run("", "search", planned), IsOk());
  const auto attach = [&](const std::function<void(search::Plan&)>& change) {
    search::Plan plan = planned.plan;
    change(plan);
    Compilation attached = Request("");
    attached.request.plan =
        search::ReadPlan(search::WritePlan(planned.model.graph, plan, search::PlanNotes())).value();
    const absl::Status status = Run("", "attach", attached);
    if (status.ok()) CHECK(attached.plan.tensors == plan.tensors);
    if (!status.ok()) CHECK_THAT(status, StatusIs(absl::StatusCode::kFailedPrecondition));
    return status;
  };
  CHECK_THAT(attach([](search::Plan&) {}), IsOk());
  CHECK_THAT(attach([](search::Plan& plan) { plan.cost.weight += 4; }), Fails("it moves"));
  CHECK_THAT(attach([](search::Plan& plan) { plan.tensors[0].axes = {{0}, {}}; }),
             Fails("is left out, but fits"));
  CHECK_THAT(attach([](search::Plan& plan) { plan.lower_bound = 0; }), IsOk());
}

TEST_CASE("a model gets other factors without its file") {
  Compilation compilation = Training();
  compilation.request.training = {{"train", "sgd"}};
  REQUIRE_THAT(Run("", "cluster", compilation), IsOk());
  std::filesystem::remove(compilation.request.model_file);
  const absl::StatusOr<Model> again = WithFactors(compilation.model, true);
  REQUIRE_THAT(again, IsOk());
  CHECK(again->graph_hash == compilation.model.graph_hash);
  CHECK(again->training == compilation.model.training);
  CHECK_THAT(WithFactors(compilation.model, false), IsOk());
  CHECK_THAT(WithFactors(Model(), false), StatusIs(absl::StatusCode::kFailedPrecondition));
}

}  // namespace
}  // namespace yuba::compiler
