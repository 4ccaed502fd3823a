// The table of engines: what holds without each of them, what they report, and that every bound on
// the way is proved.
#include "tests/support/engines.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "search/check/check.h"
#include "search/rewrite/copies.h"
#include "search/search.h"
#include "tests/support/graphs.h"
#include "tests/support/part.h"
#include "tests/support/status_matchers.h"

namespace yuba::search {
namespace {

struct Example {
  const char* name;
  Graph graph;
  SearchOptions options;
};

SearchOptions On(int devices, int64_t table_cells = SearchOptions().table_cells) {
  SearchOptions options;
  options.mesh = MeshOf(devices);
  options.table_cells = table_cells;
  return options;
}

SearchOptions Within(int devices, int64_t limit, Replicate replicate) {
  SearchOptions options = On(devices);
  options.memory_limit = limit;
  options.replicate = replicate;
  return options;
}

SearchOptions Pinned(SearchOptions options, const std::string& pin) {
  options.pin_texts = {pin};
  return options;
}

// Programs are above the limit where the plan cuts the first tensor along its rows.
SearchOptions TooLargeAsCut(SearchOptions options) {
  options.memory_of = [limit = options.memory_limit](const Graph&, const Plan& plan) {
    return plan.tensors[0].axes[0].empty() ? limit : limit + 1;
  };
  return options;
}

// Searches that need all engines between them: on tables that can be eliminated and that cannot, on
// grids, with copies, within limits, with replicas, with little room for tables and with pins.
std::vector<Example> Examples() {
  const Graph chain = MatmulChain({64, 128, 64}, 32), network = ResNet(4, {1, 1});
  const Graph recurrent = Recurrent(16, 24, 1, 4), copied = WithCopies(Recurrent(8, 24, 2, 3));
  return {
      {"chain", chain, On(8)},
      {"network", network, On(6)},
      {"wide tables", recurrent, On(8, 2000)},
      {"wide tables with copies", copied, On(8, 500)},
      {"grids", network, On(48)},
      {"grids with copies", copied, On(32)},
      {"recurrent on grids", recurrent, On(24)},
      {"limit", chain, Within(4, 40'000, Replicate::kNone)},
      {"programs above the limit", chain, TooLargeAsCut(Within(4, 40'000, Replicate::kNone))},
      {"replicas", chain, Within(4, 50'000, Replicate::kAuto)},
      {"replicas on grids", chain, Within(32, 20'000, Replicate::kAuto)},
      {"pins", chain, Pinned(On(8), "t1=[-, b]")},
      {"pins on wide tables", recurrent, Pinned(On(8, 2000), "batch=b")},
      {"pins on grids", network, Pinned(On(48), "batch=a")},
      {"pins within a limit", chain, Pinned(Within(4, 50'000, Replicate::kNone), "batch=b")},
      {"pins and replicas on grids", chain,
       Pinned(Within(32, 30'000, Replicate::kAuto), "t1=[-, b]")},
  };
}

// Searches, and checks the plan and every bound that was the best for a while.
Plan Checked(const Graph& graph, SearchOptions options) {
  int64_t last = -1;
  options.check_bound = [&](const Graph& of, const Plan& claim) {
    last = claim.lower_bound;
    CHECK_THAT(CheckProof(of, claim), IsOk());
  };
  const absl::StatusOr<Plan> plan = Search(graph, options);
  REQUIRE_THAT(plan, IsOk());
  CHECK_THAT(CheckPlan(graph, *plan), IsOk());
  CHECK((plan->lower_bound == 0 || last > 0));
  return *plan;
}

TEST_CASE("without any one engine plans are legal, bounds true, and no plan beats a bound") {
  const int most = Part(12);          // examples without each engine
  std::map<std::string, int> missed;  // by engine: plans that are dearer or bounds that are lower
  std::map<std::string, int> left_out;
  for (const Example& example : Examples()) {
    std::set<std::string> ran;
    SearchOptions reported = example.options;
    reported.report = [&](const EngineReport& report) {
      ran.insert(report.engine.substr(report.engine.rfind('/') + 1));
    };
    const Plan all = Checked(example.graph, reported);
    for (const std::string& engine : ran) {
      if (++left_out[engine] > most) continue;
      CAPTURE(example.name, engine);
      SearchOptions options = example.options;
      options.without = {engine};
      const Plan plan = Checked(example.graph, options);
      CHECK(plan.cost.bytes() >= all.lower_bound);
      CHECK(plan.lower_bound <= all.cost.bytes());
      missed[engine] += plan.cost.bytes() > all.cost.bytes() || plan.lower_bound < all.lower_bound;
    }
  }
  for (const char* engine : {"grids", "axes"}) {
    CAPTURE(engine);
    CHECK(missed[engine] > 0);
  }
}

TEST_CASE("a search of a single engine finds a plan") {
  for (const char* engine : {"eliminate", "levels", "grids", "local"}) {
    const Graph graph = MatmulChain({64, 128, 64}, 32);
    const Plan plan = Checked(graph, Only(On(8), {engine}));
    CHECK((plan.proof.kind == ProofKind::kElimination) == (engine == std::string("eliminate")));
  }
}

TEST_CASE("engines report what they added, and nothing runs once the gap is closed") {
  std::set<std::string> names;
  for (const Example& example : Examples()) {
    SearchOptions options = example.options;
    std::vector<EngineReport> reports;
    options.report = [&](const EngineReport& report) { reports.push_back(report); };
    const Plan plan = Search(example.graph, options).value();
    CAPTURE(example.name);
    REQUIRE_FALSE(reports.empty());
    std::map<std::string, EngineReport> last;  // by the search that the engine is part of
    for (const EngineReport& report : reports) {
      const size_t slash = report.engine.rfind('/') + 1;  // 0 where there is none
      const std::string search = report.engine.substr(0, slash);
      names.insert(report.engine.substr(slash));
      CAPTURE(report.engine);
      CHECK(report.value <= report.before);
      CHECK(report.bound >= report.bound_before);
      CHECK(report.before > report.bound_before);
      if (last.count(search) > 0) {
        CHECK(report.before == last[search].value);
        CHECK(report.bound_before == last[search].bound);
      }
      last[search] = report;
    }
    CHECK(last[""].value == plan.cost.bytes());
    CHECK(last[""].bound == plan.lower_bound);
  }
  names.insert("smallest");   // runs only where there is no plan
  names.insert("scheduled");  // is no engine of one graph (portfolio/shortest_step.h)
  const std::vector<std::string> all = EngineNames();
  CHECK(names == std::set<std::string>(all.begin(), all.end()));
}

TEST_CASE("an engine that is none is refused by name") {
  SearchOptions options = On(4);
  options.without = {"elimniate"};
  CHECK_THAT(Search(MatmulChain({8, 8}, 8), options),
             StatusIs(absl::StatusCode::kInvalidArgument,
                      "there is no engine named \"elimniate\"; there are eliminate, grids"));
}

TEST_CASE("within a limit the error says where engines were left out") {
  SearchOptions options = Within(4, 40'000, Replicate::kNone);
  options.memory_of = [](const Graph&, const Plan&) { return 50'000; };
  CHECK_THAT(Search(MatmulChain({64, 128, 64}, 32), Only(options, {"plain", "levels"})),
             StatusIs(absl::StatusCode::kFailedPrecondition, "was found without the engines"));
}

}  // namespace
}  // namespace yuba::search
