// The lines that `yuba partition` prints of a model.
#include "tools/report/search_report.h"

#include <catch2/catch.hpp>

#include "search/file/plan_file.h"
#include "tests/compiler/support/small_graphs.h"
#include "tools/report/plan_report.h"

namespace yuba::tools {
namespace {

std::string TextOfInputs(int count) {
  compiler::ModelBuilder build;
  std::vector<TensorId> inputs;
  for (int i = 0; i < count; ++i) inputs.push_back(build.Input({2, 3}));
  return ModelText(build.Finish({build.Relu(inputs[0])}));
}

TEST_CASE("of many inputs the first are named, and the others counted") {
  const std::string five = TextOfInputs(5), many = TextOfInputs(150);
  INFO(five << many);
  CHECK(five.find("x4: f32[2, 3]; ") != std::string::npos);
  CHECK(many.find("x3: f32[2, 3] and 146 more inputs; ") != std::string::npos);
  CHECK(many.size() < 300);
}

TEST_CASE("of notes that differ in numbers alone the first is printed, with how many are like it") {
  const std::string indent = "               ";
  CHECK(NotesText({"reshape of l.0", "other", "reshape of l.1", "reshape of l.12"}) ==
        indent + "reshape of l.0  (and 2 like it)\n" + indent + "other\n");
  CHECK(NotesText({}).empty());
}

// A plan that moves 1,000 bytes, with these bounds and a proof that has been replayed.
std::string Line(int64_t lower_bound, int64_t asked_bound) {
  search::Plan plan;
  plan.mesh = MeshOf(8);
  plan.search = "default";
  plan.cost.activation = 1000;
  plan.lower_bound = lower_bound;
  plan.asked_bound = asked_bound;
  plan.proof.kind = search::ProofKind::kDual;
  plan.replayed = true;
  return SearchText(plan, plan.search, absl::nullopt, 0, 1.0);
}

TEST_CASE("of a plan file the gap to the bound is printed that it proves") {
  search::PlanFile file;
  file.search = "default";
  file.cost.activation = 1000;
  file.proof.kind = search::ProofKind::kDual;
  file.replayed = true;
  const auto text = [&](int64_t lower_bound, int64_t asked_bound) {
    file.lower_bound = lower_bound;
    file.asked_bound = asked_bound;
    return BoundText(file);
  };
  CHECK(text(1000, 1000) == "lower bound in its space 1.0 kB, gap 0");
  CHECK(text(1000, 800) ==
        "lower bound in its space 1.0 kB, gap 0; over all spaces 800 B, gap 20.00 %, says the "
        "search, whose proof of that is not in the file");
  CHECK(text(900, 0) ==
        "lower bound in its space 900 B, gap 10.00 %; no bound is known for all spaces");
  CHECK(text(0, 0) == "no bound is known");
}

TEST_CASE("only of a search that was asked for it is said that it looks for no bound") {
  using Catch::Contains;
  search::PlanFile file;  // the default search took the plan of a baseline
  file.search = "zero3";
  file.cost.activation = 1000;
  CHECK(BoundText(file) == "no bound is known, --search zero3 looks for none");
  file.notes.options["search"] = "default";
  CHECK(BoundText(file) == "no bound is known");
  search::Plan plan;
  plan.mesh = MeshOf(8);
  plan.search = "zero3";
  plan.cost.activation = 1000;
  CHECK_THAT(SearchText(plan, "default", absl::nullopt, 0, 1.0), !Contains("looks for none"));
  CHECK_THAT(SearchText(plan, "zero3", absl::nullopt, 0, 1.0),
             Contains("no bound is known, --search zero3 looks for none"));
}

TEST_CASE("a gap is printed only where its bound holds for all that was asked for") {
  using Catch::Contains;
  const std::string space = "(free nesting, factors)";
  CHECK_THAT(Line(900, 900), Contains("lower bound 900 B, gap 10.00 % in its space " + space));
  CHECK_THAT(Line(1000, 1000), Contains("optimal in its space (free nesting, factors; "));
  const std::string no_proof = "gap 20.00 % (no proof of it is kept; in its space alone ";
  CHECK_THAT(Line(900, 800), Contains("lower bound 800 B, " + no_proof + "900 B); " +
                                      "its space: free nesting, factors\n"));
  CHECK_THAT(Line(1000, 800), Contains(no_proof + "1.0 kB)"));
  for (const std::string& unknown : {Line(1000, 0), Line(900, 0)}) {
    CHECK_THAT(unknown, Contains("no bound is known for all spaces, so no gap"));
    CHECK_THAT(unknown, !Contains(" %"));
  }
  CHECK_THAT(Line(900, 0), Contains("lower bound in its space alone 900 B; "));
}

}  // namespace
}  // namespace yuba::tools
