// Plans within a limit on memory, found on grids and on tables, against all plans of small graphs.
#include <algorithm>
#include <catch2/catch.hpp>
#include <iostream>
#include <map>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "search/check/bound.h"
#include "search/check/check.h"
#include "search/engines/incumbent.h"
#include "search/engines/nothing_fits.h"
#include "search/engines/task.h"
#include "search/model/graph_problem.h"
#include "search/model/memory_rows.h"
#include "search/model/plan_problem.h"
#include "search/rows/prices.h"
#include "search/search.h"
#include "tests/support/engines.h"
#include "tests/support/graphs.h"
#include "tests/support/part.h"
#include "tests/support/status_matchers.h"

namespace yuba::search {
namespace {

struct Case {
  Graph graph;
  int devices = 2;
  bool replicate = false;
};

// Chains of two products, and sums over a branch.
std::vector<Case> Cases() {
  std::vector<Case> cases;
  std::mt19937 random(3);
  const auto extent = [&] { return int64_t{8} << (random() % 5); };
  for (int round = 0; round < Part(24); ++round) {
    const bool replicate = round % 2 == 0;
    const int64_t rows = extent(), width = extent(), between = extent();
    GraphBuilder builder;
    const TensorId x = builder.Input({rows, width});
    const TensorId y = builder.Matmul(x, builder.Parameter({width, between}));
    if (round % 4 < 2) {
      const TensorId z = builder.Matmul(y, builder.Parameter({between, width}));
      cases.push_back({builder.Finish({z}), 2, replicate});
    } else {
      const TensorId z = builder.Matmul(builder.Relu(y), builder.Parameter({between, between}));
      cases.push_back({builder.Finish({builder.Add(z, y)}), 2, replicate});
    }
  }
  GraphBuilder tied;
  const TensorId w = tied.Parameter({40, 40});
  const TensorId y = tied.Matmul(tied.Input({24, 40}), w);
  cases.push_back({tied.Finish({tied.Matmul(y, w)}), 4, false});
  return cases;
}

// A search with rows of memory, on grids alone or on tables alone.
SearchOptions OptionsOf(const Case& here) {
  SearchOptions options;
  options.mesh = MeshOf(here.devices);
  options.replicate = here.replicate ? Replicate::kAuto : Replicate::kNone;
  options.table_cells = 1 << 20;
  return options;
}
SearchOptions OnGrids(SearchOptions options) {
  return Only(std::move(options), {"replicating", "baselines", "grids", "axes", "rows"});
}
SearchOptions OnTables(SearchOptions options) {
  return Only(std::move(options), {"prices", "local", "smallest"});
}

// All choices, with rows.
Problem ProblemOf(const Case& here) {
  const SearchOptions options = OptionsOf(here);
  ProblemOptions all = AllAxesOf(options, {}, Budget::Unlimited());
  all.replicate = here.replicate;
  all.cluster = false;
  Problem problem = BuildProblem(here.graph, all);
  problem.pairwise.memory = MemoryRowsOf(here.graph, options.mesh, problem, 0);
  return problem;
}

// Makes the rows of the problem decide, as if they were the program's.
void CountBy(const Problem& problem, SearchOptions& options) {
  options.memory_of = [&problem](const Graph&, const Plan& plan) {
    Choices choices = plan.tensors;
    choices.insert(choices.end(), plan.nodes.begin(), plan.nodes.end());
    return PeakOf(problem.pairwise, problem.ValuesOf(choices));
  };
}

// By peak of the rows: the least cost of all assignments of that peak.
std::map<int64_t, int64_t> CostByPeak(const PairwiseProblem& problem) {
  std::map<int64_t, int64_t> costs;
  Assignment assignment(problem.variables.size(), 0);
  for (size_t v = 0; v < assignment.size();) {
    const int64_t cost = CostOf(problem, assignment);
    int64_t& known = costs.emplace(PeakOf(problem, assignment), cost).first->second;
    known = std::min(known, cost);
    for (v = 0; v < assignment.size(); ++v) {
      if (++assignment[v] < problem.variables[v]->size) break;
      assignment[v] = 0;
    }
  }
  return costs;
}

TEST_CASE("at every limit: a proven bound, and mostly the cheapest plan") {
  int limits = 0, best = 0, tight = 0;
  for (const Case& here : Cases()) {
    const Problem problem = ProblemOf(here);
    SearchOptions options = OnGrids(OptionsOf(here));
    CountBy(problem, options);
    int64_t least = kForbidden;
    for (const auto& [peak, cost] : CostByPeak(problem.pairwise)) {
      if (cost >= least) continue;  // a lower peak is as cheap: no limit to try
      least = cost;
      options.memory_limit = peak;
      CAPTURE(peak, least, here.replicate);
      const absl::StatusOr<Plan> plan = Search(here.graph, options);
      ++limits;
      if (!plan.ok()) continue;
      CHECK(plan->lower_bound <= least);
      CHECK(plan->cost.bytes() >= least);
      CHECK(options.memory_of(here.graph, *plan) <= peak);
      CHECK_THAT(CheckPlan(here.graph, *plan), IsOk());
      best += plan->cost.bytes() == least;
      tight += plan->lower_bound == least;
      SearchOptions by_rows = options;  // without programs, rows decide
      by_rows.memory_of = nullptr;
      const absl::StatusOr<Plan> same = Search(here.graph, by_rows);
      CHECK((same.ok() && same->tensors == plan->tensors && same->nodes == plan->nodes));
    }
  }
  std::cout << limits << " limits: " << best << " cheapest plans, " << tight << " tight bounds\n";
  CHECK(limits >= 20);
  CHECK(best * 10 >= limits * 8);
}

// The bytes that the smallest program found needs.
int64_t SmallestFound(const Case& here, SearchOptions options) {
  options.memory_limit = 1;
  const int64_t smallest = SmallestPeak(Search(here.graph, options).status());
  REQUIRE(smallest < kNoLimit);
  return smallest;
}

TEST_CASE("where replicas leave wide gaps, a higher limit hardly costs bytes") {
  const std::vector<Case> cases = {{ResNet(4, {1, 1}), 6, true}, {ResNet(8, {2, 2}), 6, true}};
  for (const Case& here : cases) {
    SearchOptions options = OnGrids(OptionsOf(here));
    const int64_t least = SmallestFound(here, options);
    int64_t before = kForbidden;
    for (const int percent : {140, 160}) {
      options.memory_limit = least * percent / 100;
      const absl::StatusOr<Plan> plan = Search(here.graph, options);
      REQUIRE_THAT(plan, IsOk());
      CAPTURE(here.graph.nodes.size(), percent, before, plan->lower_bound);
      CHECK_THAT(CheckPlan(here.graph, *plan), IsOk());
      CHECK(static_cast<double>(plan->cost.bytes()) <= 1.1 * static_cast<double>(before));
      before = plan->cost.bytes();
    }
  }
}

TEST_CASE("grids that keep to the rows together lead near the bound") {
  const Case here = {ResNet(4, {1, 1}), 6, true};
  SearchOptions options = OnGrids(OptionsOf(here));
  options.memory_limit = SmallestFound(here, options) * 6 / 5;
  const Plan plan = Search(here.graph, options).value();
  CAPTURE(plan.cost.bytes(), plan.lower_bound);
  CHECK(100 * plan.lower_bound > 98 * plan.cost.bytes());
}

TEST_CASE("replicas are found where tables cannot be eliminated") {
  for (const int64_t batch : {2, 3, 4}) {
    const Graph graph = Recurrent(batch, 16, 2, 4);
    SearchOptions options;
    options.mesh = MeshOf(8);
    options.replicate = Replicate::kAuto;
    const absl::StatusOr<Plan> plan = Search(graph, options);
    REQUIRE_THAT(plan, IsOk());
    REQUIRE(plan->proof.kind == ProofKind::kDual);
    CHECK_THAT(CheckPlan(graph, *plan), IsOk());
    CHECK(plan->cost.bytes() > 0);
    CHECK(plan->cost.bytes() * 100 <= plan->lower_bound * 101);
  }
}

TEST_CASE("where no plan can be cheaper than what is known, none is looked for") {
  const Case here = {ResNet(4, {1, 1}), 12, true};
  SearchOptions options = OnGrids(OptionsOf(here));
  options.memory_limit = SmallestFound(here, options) * 6 / 5;
  const int64_t bound = Search(here.graph, options)->lower_bound;
  REQUIRE(bound > 1000);
  options.known_value = bound / 2;
  CHECK_THAT(Search(here.graph, options), StatusIs(absl::StatusCode::kNotFound));
}

// In units of prices, what moving rows costs is more than a number of a proof may be.
TEST_CASE("bounds beside costs that are too large to be priced are proved") {
  GraphBuilder builder;
  const TensorId x = builder.Input({int64_t{1} << 34, 256});
  const TensorId y = builder.Matmul(x, builder.Parameter({256, 256}));
  const TensorId z = builder.Matmul(y, builder.Parameter({256, 128}));
  const Case here = {builder.Finish({builder.Matmul(z, builder.Parameter({128, 256}))}), 2, true};
  SearchOptions options = OptionsOf(here);
  const Problem problem = ProblemOf(here);
  const int64_t least = UnmovedPeakOf(problem.pairwise, LeastUsage(problem.pairwise));
  CountBy(problem, options);
  for (const int64_t weights : {70'000, 100'000, 150'000, 200'000}) {
    options.memory_limit = least + weights;
    for (const SearchOptions& each : {OnGrids(options), OnTables(options)}) {
      const absl::StatusOr<Plan> plan = Search(here.graph, each);
      CAPTURE(options.memory_limit, plan.status().ToString());
      REQUIRE_THAT(plan, IsOk());
      CAPTURE(WordOf(plan->proof.kind), plan->lower_bound, plan->cost.bytes());
      CHECK(!plan->proof.prices.empty());
      CHECK(plan->lower_bound > 0);
      CHECK_THAT(CheckPlan(here.graph, *plan), IsOk());
    }
  }
}

TEST_CASE("an error names the smallest peak found and what holds it up") {
  const Case here = Cases()[0];
  SearchOptions options = OptionsOf(here);
  options.memory_limit = 64;
  options.memory_of = [](const Graph&, const Plan&) { return 123456; };
  for (const SearchOptions& each : {OnGrids(options), OnTables(options)}) {
    const std::string message{Search(here.graph, each).status().message()};
    CHECK(message.find("the smallest of those that were tried needs 123456") != std::string::npos);
    CHECK(message.find("most of them by") != std::string::npos);
  }
}

TEST_CASE("where not even what every plan has in use fits, one program is made for the error") {
  const Graph graph = ResNet(8, {2, 2});
  SearchOptions options;
  options.mesh = MeshOf(64);
  options.memory_limit = 1;
  int programs = 0;
  options.memory_of = [&](const Graph& of, const Plan& plan) {
    ++programs;
    return PeakOfPlan(of, plan);
  };
  std::vector<std::string> engines;
  options.report = [&](const EngineReport& report) { engines.push_back(report.engine); };
  const absl::Status error = Search(graph, options).status();
  CHECK(absl::IsFailedPrecondition(error));
  CHECK(engines == std::vector<std::string>{"least"});
  CHECK(programs == 1);
  // Within what the error names there is a plan.
  options.memory_limit = SmallestPeak(error);
  const absl::StatusOr<Plan> plan = Search(graph, options);
  REQUIRE_THAT(plan, IsOk());
  CHECK_THAT(CheckPlan(graph, *plan), IsOk());
}

}  // namespace
}  // namespace yuba::search
