// Dimensions with factors and without: the default takes the cheaper, and says which.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdlib>
#include <functional>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "compiler/phases.h"
#include "compiler/search_model.h"
#include "opsemantics/language/library.h"
#include "search/check/check.h"
#include "search/portfolio/flat_may_differ.h"
#include "search/rewrite/accumulators.h"
#include "tests/compiler/support/onnx_builder.h"
#include "tests/compiler/support/whole_model.h"
#include "tests/support/status_matchers.h"

namespace yuba::compiler {
namespace {

// Attention over 3 vectors of `width` with heads of 8. Keys and values have fewer heads, which are
// repeated to as many as the queries have.
std::string Attention(int64_t width, int64_t heads, int64_t shared) {
  OnnxBuilder build;
  build.Input("x", {3, width});
  build.Integers("few", {3, shared, 1, 8});
  build.Integers("repeated", {3, shared, heads / shared, 8});
  build.Integers("heads", {3, heads, 8});
  build.Integers("o shape", {3, heads * 8});
  for (const std::string of : {"q", "k", "v"}) {
    build.Weight("w" + of, {width, (of == "q" ? heads : shared) * 8});
    build.Node("MatMul", {"x", "w" + of}, {of});
    if (of != "q") {
      build.Node("Reshape", {of, "few"}, {of + " few"});
      build.Node("Expand", {of + " few", "repeated"}, {of + " repeated"});
    }
    build.Node("Reshape", {of == "q" ? of : of + " repeated", "heads"}, {of + " heads"});
    const std::vector<int64_t> order =
        of == "k" ? std::vector<int64_t>{1, 2, 0} : std::vector<int64_t>{1, 0, 2};
    SetInts(build.Node("Transpose", {of + " heads"}, {of + " t"}), "perm", order);
  }
  build.Node("MatMul", {"q t", "k t"}, {"scores"});
  build.Node("Softmax", {"scores"}, {"shares"});
  build.Node("MatMul", {"shares", "v t"}, {"o t"});
  SetInts(build.Node("Transpose", {"o t"}, {"o heads"}), "perm", {1, 0, 2});
  build.Node("Reshape", {"o heads", "o shape"}, {"o"});
  build.Weight("wo", {heads * 8, width});
  build.Node("MatMul", {"o", "wo"}, {"y"});
  build.Output("y");
  return build.Save();
}

struct Planned {
  Model model;
  search::Plan plan;
};

class Spaces {
 public:
  Spaces() : library_(OperatorLibrary::BuiltIn().value()) {}

  onnx::ImportOptions Import(bool factors) const {
    onnx::ImportOptions import;
    import.library = &library_;
    import.factors = factors;
    return import;
  }

  Planned Alone(const std::string& file, bool factors, search::SearchOptions options) const {
    options.factors = factors;
    Planned planned{ImportFile(file, Import(factors)).value(), {}};
    planned.model.graph = search::SharedGraph(planned.model.graph, options);
    planned.plan = search::Search(planned.model.graph, options).value();
    return planned;
  }

  Planned Both(const std::string& file, search::SearchOptions options) const {
    options.flat_too = true;
    Planned planned{ImportFile(file, Import(true)).value(), {}};
    planned.plan = SearchModel(options, planned.model).value();
    return planned;
  }

 private:
  const OperatorLibrary library_;
};

search::SearchOptions On(int devices, bool copies = false) {
  search::SearchOptions options;
  options.mesh = MeshOf(devices);
  options.copies = copies;
  return options;
}

TEST_CASE("the default is the cheaper of dimensions with factors and without") {
  const Spaces spaces;
  int factored = 0, flat = 0;
  for (const auto& [width, heads, shared] :
       {std::tuple<int64_t, int64_t, int64_t>{32, 4, 2}, {64, 12, 12}, {70, 8, 2}}) {
    const std::string file = Attention(width, heads, shared);
    for (const int devices : {2, 5, 7, 8, 12}) {
      const search::SearchOptions options = On(devices, devices == 5);
      const Planned both = spaces.Both(file, options);
      const int64_t with = spaces.Alone(file, true, options).plan.cost.bytes(),
                    without = spaces.Alone(file, false, options).plan.cost.bytes();
      INFO(heads << " heads on " << devices << ": " << with << " with factors, " << without);
      CHECK(both.plan.cost.bytes() == std::min(with, without));
      CHECK(both.plan.space.factors == (with <= without));
      CHECK_THAT(search::CheckPlan(both.model.graph, both.plan), IsOk());
      factored += with < without;
      flat += without < with;
    }
  }
  CHECK(factored > 0);
  CHECK(flat > 0);
}

// A sum of products and what else reads them, of rows of `width`.
std::string Sums(int64_t rows, int64_t width) {
  OnnxBuilder build;
  build.Input("x", {rows, width});
  for (const char* weight : {"w0", "w1", "w2", "w3"}) build.Weight(weight, {width, width});
  build.Node("MatMul", {"x", "w0"}, {"m0"});
  build.Node("MatMul", {"m0", "w1"}, {"m1"});
  build.Node("Mul", {"m0", "m1"}, {"p"});
  build.Node("MatMul", {"x", "w2"}, {"m2"});
  build.Node("MatMul", {"x", "w3"}, {"m3"});
  build.Node("Sum", {"m0", "p", "m2", "m3"}, {"y"});
  build.Output("y");
  return build.Save();
}

TEST_CASE("within a limit the default is the cheaper of sums with accumulators and without") {
  const Spaces spaces;
  int without = 0;
  for (const auto& [rows, width, limit] :
       {std::tuple<int64_t, int64_t, int64_t>{6, 4, 640}, {8, 8, 1792}}) {
    search::SearchOptions options = On(2, true);
    options.replicate = search::Replicate::kAuto;
    options.memory_limit = limit;
    std::map<std::string, int64_t> bytes;
    for (const std::string of : {"auto", "all", "none"}) {
      options.accumulators = *search::FromWord<search::Accumulators>(of);
      Planned planned{ImportFile(Sums(rows, width), spaces.Import(true)).value(), {}};
      const absl::StatusOr<search::Plan> plan = SearchModel(options, planned.model);
      bytes[of] = plan.ok() ? plan->cost.bytes() : INT64_MAX;
      if (of != "auto") continue;
      INFO(limit);
      REQUIRE_THAT(plan, IsOk());
      CHECK(plan->space.accumulators == search::HasAccumulators(planned.model.graph));
      CHECK_THAT(search::CheckPlan(planned.model.graph, *plan), IsOk());
      CHECK(ArenaBytes(planned.model.graph, *plan) <= limit);
    }
    INFO(limit << ": " << bytes["all"] << " with, " << bytes["none"] << " without");
    CHECK(bytes["auto"] == std::min(bytes["all"], bytes["none"]));
    without += bytes["none"] < bytes["all"];
  }
  CHECK(without > 0);
}

TEST_CASE("flat dimensions are looked at only where factors do not end where parts do") {
  const auto may = [](std::vector<int64_t> factors, int devices) {
    Graph graph;
    graph.tensors.resize(1);
    graph.tensors[0].dims = {std::move(factors), {5}};
    return search::FactorsMayNotNest(graph, MeshOf(devices));
  };
  CHECK_FALSE(may({256}, 7));
  CHECK(may({4, 64}, 7));
  CHECK_FALSE(may({4, 64}, 8));
  CHECK_FALSE(may({7, 64}, 7));
  CHECK(may({12, 64}, 8));
  CHECK_FALSE(may({12, 64}, 4));
  CHECK(may({4, 3, 64}, 12));  // the axis of 3 may come first
  CHECK_FALSE(may({2, 2, 2, 2}, 16));
}

// x plus its transpose, reshaped into rows as long as those of x. With factors that is one
// definition, which reads all of x on each of two devices; without, half of x moves through the
// tensor in between.
std::string TwoViews() {
  OnnxBuilder build;
  build.Input("x", {4, 8});
  build.Integers("split", {4, 2, 4});
  build.Integers("merged", {4, 8});
  SetInts(build.Node("Transpose", {"x"}, {"t"}), "perm", {1, 0});
  build.Node("Reshape", {"t", "split"}, {"s"});
  build.Node("Reshape", {"s", "merged"}, {"v"});
  build.Node("Add", {"v", "x"}, {"y"});
  build.Output("y");
  return build.Save();
}

TEST_CASE("flat dimensions are looked at where a definition reads two views of one tensor") {
  const Spaces spaces;
  const std::string file = TwoViews();
  const int64_t with = spaces.Alone(file, true, On(2)).plan.cost.bytes(),
                without = spaces.Alone(file, false, On(2)).plan.cost.bytes();
  CHECK(without < with);
  CHECK(spaces.Both(file, On(2)).plan.cost.bytes() == without);
}

TEST_CASE("accumulators are taken where they save more than their bound leaves open") {
  const Spaces spaces;
  const std::string file = "tests/models/lstm/model.onnx";
  for (const int devices : {12, 16, 30}) {
    INFO(devices);
    search::SearchOptions options = On(devices, true);
    const Planned both = spaces.Both(file, options);
    CHECK(search::HasAccumulators(both.model.graph));
    CHECK(both.plan.space.accumulators);
    CHECK_THAT(search::CheckPlan(both.model.graph, both.plan), IsOk());
    options.accumulators = search::Accumulators::kNone;
    const int64_t without = spaces.Both(file, options).plan.cost.bytes();
    const int64_t bytes = both.plan.cost.bytes();
    CHECK(without - bytes > bytes - both.plan.lower_bound);
  }
}

TEST_CASE("accumulators are taken with replicas, and within a limit that their plan meets") {
  const Spaces spaces;
  const std::string file = "tests/models/lstm/model.onnx";
  search::SearchOptions options = On(12, true);
  const Planned free = spaces.Both(file, options);
  REQUIRE(free.plan.space.accumulators);
  const int64_t arena = ArenaBytes(free.model.graph, free.plan);
  options.memory_limit = arena;
  const Planned within = spaces.Both(file, options);
  CHECK(within.plan.cost.bytes() <= free.plan.cost.bytes());
  CHECK(within.plan.space.memory == arena);
  CHECK(ArenaBytes(within.model.graph, within.plan) <= arena);
  CHECK_THAT(search::CheckPlan(within.model.graph, within.plan), IsOk());
  options.memory_limit = arena - arena / 8;
  const Planned less = spaces.Both(file, options);
  CHECK(ArenaBytes(less.model.graph, less.plan) <= options.memory_limit);
  options.memory_limit = 0;
  options.replicate = search::Replicate::kAuto;
  const Planned replicas = spaces.Both(file, options);
  CHECK(replicas.plan.cost.bytes() <= free.plan.cost.bytes());
  CHECK_THAT(search::CheckPlan(replicas.model.graph, replicas.plan), IsOk());
}

TEST_CASE("a search without time left plans with factors, and says that it was cut short") {
  const Spaces spaces;
  search::SearchOptions options = On(7);
  options.time_limit = 1e-9;
  const Planned planned = spaces.Both(Attention(70, 8, 2), options);
  CHECK(planned.plan.space.factors);
  CHECK(planned.plan.stopped == search::kTimeLimit);
}

TEST_CASE("wherever a search is stopped, its bound of all that was asked for holds") {
  const Spaces spaces;
  search::SearchOptions within = On(2, true);
  within.replicate = search::Replicate::kAuto;
  within.memory_limit = 640;
  struct Case {
    const char* name;
    std::function<std::string()> file;  // saved when it is its turn: all have one place
    search::SearchOptions options;
  };
  const std::vector<Case> cases = {
      {"flat is dearer", [] { return Attention(64, 12, 12); }, On(8)},
      {"flat is cheaper", [] { return Attention(70, 8, 2); }, On(7)},
      {"two views", TwoViews, On(2)},
      {"sums within a limit", [] { return Sums(6, 4); }, within},
      {"steps", [] { return "tests/models/lstm/model.onnx"; }, On(6, true)}};
  int unknown = 0, lower = 0, too_high = 0;
  for (const Case& c : cases) {
    const std::string file = c.file();
    const search::Plan whole = spaces.Both(file, c.options).plan;
    CHECK((whole.asked_bound > 0 || whole.cost.bytes() == 0));
    bool finished = false;
    for (int64_t allowed = 1; !finished; allowed += 1 + allowed / 2) {
      INFO(c.name << ", stopped at look " << allowed);
      int64_t looks = 0;
      search::SearchOptions options = c.options;
      options.flat_too = true;
      options.asked = [&] { return ++looks > allowed; };
      Model model = ImportFile(file, spaces.Import(true)).value();
      const absl::StatusOr<search::Plan> plan = SearchModel(options, model);
      finished = looks <= allowed;
      if (!plan.ok()) continue;  // nothing within the limit was found by then
      CHECK(plan->asked_bound <= whole.cost.bytes());
      CHECK(plan->asked_bound <= plan->lower_bound);
      CHECK_THAT(search::CheckPlan(model.graph, *plan), IsOk());
      unknown += plan->asked_bound == 0;
      lower += 0 < plan->asked_bound && plan->asked_bound < plan->lower_bound;
      too_high += plan->lower_bound > whole.cost.bytes();
      if (finished) CHECK(plan->asked_bound == whole.asked_bound);
    }
  }
  CHECK(unknown > 0);
  CHECK(lower > 0);
  CHECK(too_high > 0);  // the bound of the plan's own space does not hold for all
}

TEST_CASE("phases go on with a plan without factors") {
  const Spaces spaces;
  Compilation state;
  state.request.model_file = Attention(70, 8, 2);
  state.request.import = spaces.Import(true);
  state.request.search = On(7);
  state.request.search.flat_too = true;
  REQUIRE_THAT(RunPhases(PhaseOptions(), state), IsOk());
  CHECK_FALSE(state.plan.space.factors);
  CHECK(state.program.graph_hash() == state.model.graph_hash);
}

}  // namespace
}  // namespace yuba::compiler
