// Plans within a limit on memory: their programs keep to it, no plan that does is cheaper than the
// bound, and the checker replays that bound.
#include "compiler/search_within.h"

#include <catch2/catch.hpp>
#include <numeric>

#include "search/check.h"
#include "search/problem.h"
#include "tests/compiler/small_graphs.h"
#include "tests/compiler/whole_model.h"

namespace yuba {
namespace {

SearchOptions Options(int devices, const std::string& replicate, int64_t limit) {
  SearchOptions options;
  options.mesh = MeshOf(devices);
  options.replicate = replicate;
  options.memory_limit = limit;
  return options;
}

Plan PlanOf(const Graph& graph, const Mesh& mesh, const Cuts& cuts) {
  const auto middle = cuts.begin() + static_cast<int64_t>(graph.tensors.size());
  Plan plan;
  plan.mesh = mesh;
  plan.tensors.assign(cuts.begin(), middle);
  plan.nodes.assign(middle, cuts.end());
  return plan;
}

// The least cost of all plans whose program needs at most `limit`; -1 where there is none, -2 where
// there are too many plans.
int64_t LeastOfAll(const Model& model, const SearchOptions& options, int64_t most_plans) {
  ProblemOptions all;
  all.mesh = options.mesh;
  all.axes.resize(options.mesh.axes.size());
  std::iota(all.axes.begin(), all.axes.end(), 0);
  all.replicate = options.replicate == "auto";
  all.cluster = false;
  const Problem problem = BuildProblem(model.graph, all);
  int64_t plans = 1, least = -1;
  for (const DomainPtr& domain : problem.pairwise.variables) {
    plans *= domain->size;
    if (plans > most_plans) return -2;
  }
  Assignment assignment(problem.pairwise.variables.size(), 0);
  for (int64_t plan = 0; plan < plans; ++plan) {
    int64_t left = plan;
    for (size_t v = 0; v < assignment.size(); ++v) {
      assignment[v] = static_cast<int>(left % problem.pairwise.variables[v]->size);
      left /= problem.pairwise.variables[v]->size;
    }
    const int64_t cost = CostOf(problem.pairwise, assignment);
    if (least >= 0 && cost >= least) continue;
    const Plan tried = PlanOf(model.graph, options.mesh, problem.CutsOf(assignment));
    if (ArenaBytes(model, tried) <= options.memory_limit) least = cost;
  }
  return least;
}

TEST_CASE("within limits, no plan is cheaper than the bound") {
  int compared = 0, optimal = 0;
  for (int seed = 0; seed < 60; ++seed) {
    Random random(seed);
    const Model model = RandomModel(random);
    SearchOptions options = Options(2 + seed % 2, seed % 4 < 2 ? "auto" : "none", 0);
    const absl::StatusOr<Plan> free = SearchWithinMemory(model, options);
    REQUIRE(free.ok());
    const int64_t arena = ArenaBytes(model, *free);
    for (const int64_t limit : {arena * 6 / 10, arena * 8 / 10, arena}) {
      INFO("seed " << seed << " limit " << limit);
      options.memory_limit = limit;
      const int64_t least = LeastOfAll(model, options, 3000);
      if (least == -2) continue;
      const absl::StatusOr<Plan> plan = SearchWithinMemory(model, options);
      if (least == -1) {
        CHECK_FALSE(plan.ok());
        continue;
      }
      if (!plan.ok()) continue;  // the search is not exact
      CHECK(ArenaBytes(model, *plan) <= limit);
      CHECK(plan->lower_bound <= least);
      CHECK(plan->cost.bytes() >= least);
      CHECK(CheckPlan(model.graph, *plan).ToString() == "OK");
      ++compared;
      optimal += plan->cost.bytes() == least;
    }
  }
  INFO(compared << " compared, " << optimal << " optimal");
  CHECK(compared >= 20);
  CHECK(optimal >= compared * 8 / 10);
}

TEST_CASE("more memory never costs bytes, and too little is answered with what is needed") {
  const absl::StatusOr<Model> model = ImportFile("tests/models/mlp/model.onnx");
  REQUIRE(model.ok());
  int64_t before = INT64_MAX;
  for (const int64_t limit : {int64_t{12000}, int64_t{20000}, int64_t{40000}, int64_t{1} << 30}) {
    const absl::StatusOr<Plan> plan = SearchWithinMemory(*model, Options(8, "auto", limit));
    INFO(limit << " " << plan.status());
    REQUIRE(plan.ok());
    CHECK(ArenaBytes(*model, *plan) <= limit);
    CHECK(plan->cost.bytes() <= before);
    before = plan->cost.bytes();
  }
  CHECK(before == 0);  // every device holds all weights and has samples of its own
  const absl::StatusOr<Plan> none = SearchWithinMemory(*model, Options(8, "auto", 1000));
  CHECK(none.status().code() == absl::StatusCode::kFailedPrecondition);
  CHECK_THAT(std::string(none.status().message()), Catch::Contains("are in use at node "));
}

TEST_CASE("within a limit that another's plan keeps, no more is moved than by that plan") {
  const absl::StatusOr<Model> model = ImportFile("tests/models/mlp/model.onnx");
  REQUIRE(model.ok());
  int cheaper = 0;
  for (const char* name : {"data", "zero3", "megatron", "all-row"}) {
    INFO(name);
    SearchOptions options = Options(4, "none", 0);
    options.search = name;
    const absl::StatusOr<Plan> other = Search(model->graph, options);
    REQUIRE(other.ok());
    const absl::StatusOr<Plan> plan =
        SearchWithinMemory(*model, Options(4, "auto", ArenaBytes(*model, *other)));
    REQUIRE(plan.ok());
    CHECK(plan->cost.bytes() <= other->cost.bytes());
    cheaper += plan->cost.bytes() < other->cost.bytes();
  }
  CHECK(cheaper > 0);
}

TEST_CASE("prices that were altered prove no more than what is true") {
  const absl::StatusOr<Model> model = ImportFile("tests/models/mlp/model.onnx");
  REQUIRE(model.ok());
  const absl::StatusOr<Plan> plan = SearchWithinMemory(*model, Options(8, "auto", 12000));
  REQUIRE(plan.ok());
  REQUIRE(!plan->proof.prices.empty());
  CHECK(CheckPlan(model->graph, *plan).ok());
  Plan claims = *plan;
  claims.lower_bound = claims.cost.bytes();
  if (claims.lower_bound > plan->lower_bound) CHECK_FALSE(CheckPlan(model->graph, claims).ok());
  for (const int64_t factor : {0, 2, 10}) {
    Plan bent = *plan;
    for (MemoryPrice& price : bent.proof.prices) price.price *= factor;
    CHECK_FALSE(CheckPlan(model->graph, bent).ok());  // these prices were the best of their kind
  }
  Plan unlimited = *plan;
  unlimited.space.memory = 0;
  CHECK_FALSE(CheckPlan(model->graph, unlimited).ok());
  unlimited.proof.prices[0].price = -1;
  CHECK_FALSE(CheckPlan(model->graph, unlimited).ok());
}

}  // namespace
}  // namespace yuba
