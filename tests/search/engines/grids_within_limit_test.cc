// Plans within a limit on memory found on grids, against all plans of small graphs.
#include "search/engines/grids_within_limit.h"

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
#include "search/engines/grid_rows.h"
#include "search/model/graph_problem.h"
#include "search/model/grid_bound.h"
#include "search/model/memory_rows.h"
#include "search/search.h"
#include "search/solve/prices.h"
#include "tests/support/graphs.h"
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
  for (int round = 0; round < 16; ++round) {
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

LimitedSearch SearchOf(const Case& here) {
  LimitedSearch search;
  search.problem.mesh = MeshOf(here.devices);
  for (size_t axis = 0; axis < search.problem.mesh.axes.size(); ++axis) {
    search.problem.axes.push_back(static_cast<int>(axis));
  }
  search.problem.replicate = here.replicate;
  search.problem.cluster = false;
  search.table_cells = 1 << 20;
  return search;
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

Plan EmptyPlan(const LimitedSearch& search) {
  Plan plan;
  plan.mesh = search.problem.mesh;
  plan.space.replicate = search.problem.replicate ? Replicate::kAuto : Replicate::kNone;
  plan.space.memory = search.limit;
  return plan;
}

Plan PlanOf(const Graph& graph, const LimitedSearch& search, Candidate found) {
  Plan plan = EmptyPlan(search);
  const auto middle = found.choices.begin() + static_cast<int64_t>(graph.tensors.size());
  plan.tensors.assign(found.choices.begin(), middle);
  plan.nodes.assign(middle, found.choices.end());
  plan.cost = CostOf(graph, plan);
  plan.lower_bound = found.lower_bound;
  plan.proof = std::move(found.proof);
  return plan;
}

TEST_CASE("at every limit: a proven bound, and mostly the cheapest plan") {
  int limits = 0, best = 0, tight = 0;
  for (const Case& here : Cases()) {
    LimitedSearch search = SearchOf(here);
    Problem problem = BuildProblem(here.graph, search.problem);
    problem.pairwise.memory = MemoryRowsOf(here.graph, search.problem.mesh, problem, 0);
    search.memory_of = [&](const Choices& choices) {
      return PeakOf(problem.pairwise, problem.ValuesOf(choices));
    };
    int64_t least = kForbidden;
    for (const auto& [peak, cost] : CostByPeak(problem.pairwise)) {
      if (cost >= least) continue;  // a lower peak is as cheap: no limit to try
      least = cost;
      search.limit = peak;
      CAPTURE(peak, least, here.replicate);
      const absl::StatusOr<Candidate> found = SearchGridsWithinLimit(here.graph, search);
      ++limits;
      if (!found.ok()) continue;
      const Plan plan = PlanOf(here.graph, search, *found);
      CHECK(plan.lower_bound <= least);
      CHECK(plan.cost.bytes() >= least);
      CHECK(search.memory_of(found->choices) <= peak);
      CHECK_THAT(CheckPlan(here.graph, plan), IsOk());
      best += plan.cost.bytes() == least;
      tight += plan.lower_bound == least;
      LimitedSearch by_rows = search;  // without programs, rows decide
      by_rows.memory_of = nullptr;
      const absl::StatusOr<Candidate> same = SearchGridsWithinLimit(here.graph, by_rows);
      CHECK((same.ok() && same->choices == found->choices));
    }
  }
  std::cout << limits << " limits: " << best << " cheapest plans, " << tight << " tight bounds\n";
  CHECK(limits >= 20);
  CHECK(best * 10 >= limits * 8);
}

// The bytes that the smallest program found needs, as the error's message says.
int64_t NeededBy(const absl::Status& error) {
  const std::string message(error.message()), before = "were tried needs ";
  const size_t at = message.find(before);
  REQUIRE(at != std::string::npos);
  return std::stoll(message.substr(at + before.size()));
}

TEST_CASE("where replicas leave wide gaps, a higher limit hardly costs bytes") {
  const std::vector<Case> cases = {{ResNet(4, {1, 1}), 6, true}, {ResNet(8, {2, 2}), 6, true}};
  for (const Case& here : cases) {
    LimitedSearch search = SearchOf(here);
    search.limit = 1;
    const int64_t least = NeededBy(SearchGridsWithinLimit(here.graph, search).status());
    int64_t before = kForbidden;
    for (const int percent : {140, 160}) {
      search.limit = least * percent / 100;
      const absl::StatusOr<Candidate> found = SearchGridsWithinLimit(here.graph, search);
      REQUIRE_THAT(found, IsOk());
      const Plan plan = PlanOf(here.graph, search, *found);
      CAPTURE(here.graph.nodes.size(), percent, before, plan.lower_bound);
      CHECK_THAT(CheckPlan(here.graph, plan), IsOk());
      CHECK(static_cast<double>(plan.cost.bytes()) <= 1.1 * static_cast<double>(before));
      before = plan.cost.bytes();
    }
  }
}

TEST_CASE("grids that keep to the rows together lead near the bound") {
  const Case here = {ResNet(4, {1, 1}), 6, true};
  LimitedSearch search = SearchOf(here);
  search.limit = 1;
  search.limit = NeededBy(SearchGridsWithinLimit(here.graph, search).status()) * 6 / 5;
  const Plan plan = PlanOf(here.graph, search, *SearchGridsWithinLimit(here.graph, search));
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
  LimitedSearch search = SearchOf(here);
  search.limit = 1;
  search.limit = NeededBy(SearchGridsWithinLimit(here.graph, search).status()) * 6 / 5;
  const int64_t bound = SearchGridsWithinLimit(here.graph, search)->lower_bound;
  REQUIRE(bound > 1000);
  search.known_bytes = bound / 2;
  CHECK(absl::IsNotFound(SearchGridsWithinLimit(here.graph, search).status()));
}

// In units of prices, what moving rows costs is more than a number of a proof may be.
TEST_CASE("bounds beside costs that are too large to be priced are proved") {
  GraphBuilder builder;
  const TensorId x = builder.Input({int64_t{1} << 34, 256});
  const TensorId y = builder.Matmul(x, builder.Parameter({256, 256}));
  const TensorId z = builder.Matmul(y, builder.Parameter({256, 128}));
  const Case here = {builder.Finish({builder.Matmul(z, builder.Parameter({128, 256}))}), 2, true};
  LimitedSearch search = SearchOf(here);
  Problem problem = BuildProblem(here.graph, search.problem);
  problem.pairwise.memory = MemoryRowsOf(here.graph, search.problem.mesh, problem, 0);
  const int64_t least = UnmovedPeakOf(problem.pairwise, LeastUsage(problem.pairwise));
  search.memory_of = [&](const Choices& choices) {
    return PeakOf(problem.pairwise, problem.ValuesOf(choices));
  };
  for (const int64_t weights : {70'000, 100'000, 150'000, 200'000}) {
    search.limit = least + weights;
    for (const auto& search_within : {SearchGridsWithinLimit, SearchWithinLimit}) {
      const absl::StatusOr<Candidate> found = search_within(here.graph, search);
      CAPTURE(search.limit, found.status().ToString());
      REQUIRE_THAT(found, IsOk());
      const Plan plan = PlanOf(here.graph, search, *found);
      CAPTURE(WordOf(plan.proof.kind), plan.lower_bound, plan.cost.bytes());
      CHECK(!plan.proof.prices.empty());
      CHECK(plan.lower_bound > 0);
      CHECK_THAT(CheckPlan(here.graph, plan), IsOk());
    }
  }
}

TEST_CASE("an error names the smallest peak found and what holds it up") {
  const Case here = Cases()[0];
  LimitedSearch search = SearchOf(here);
  search.limit = 64;
  search.memory_of = [](const Choices&) { return 123456; };
  const std::string message{SearchGridsWithinLimit(here.graph, search).status().message()};
  CHECK(message.find("the smallest of those that were tried needs 123456") != std::string::npos);
  CHECK(message.find("most of them by") != std::string::npos);
}

}  // namespace
}  // namespace yuba::search
