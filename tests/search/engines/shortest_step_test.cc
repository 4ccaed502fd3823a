// Of the plan of least time and those of the baselines the one whose program takes least is the
// answer, in the space that was searched.
#include <catch2/catch.hpp>
#include <set>
#include <string>

#include "search/check/check.h"
#include "search/plan/kernel_time.h"
#include "search/plan/plan.h"
#include "search/rewrite/partials.h"
#include "search/search.h"
#include "tests/support/graphs.h"
#include "tests/support/machines.h"
#include "tests/support/status_matchers.h"

namespace yuba::search {
namespace {

SearchOptions On(int devices, Replicate replicate) {
  SearchOptions options;
  options.mesh = MeshOf(devices);
  options.objective =
      Objective(ObjectiveKind::kTime, MachineFor(options.mesh, {1e-6}, {1e9}, 1e11));
  options.replicate = replicate;
  options.copies = true;
  return options;
}

PlannedGraph Found(const Graph& graph, const SearchOptions& options) {
  const auto variant = [&](bool) -> absl::StatusOr<Graph> { return graph; };
  absl::StatusOr<PlannedGraph> found = SearchSpaces(variant, options);
  REQUIRE_THAT(found, IsOk());
  CHECK_THAT(CheckPlan(found->graph, found->plan), IsOk());
  return *std::move(found);
}

// A step of the plans of one baseline that is shorter than all others.
SearchOptions Favouring(const std::string& name, SearchOptions options) {
  options.step_of = [name](const Graph&, const Plan& plan) -> absl::StatusOr<int64_t> {
    return plan.search == name ? 1'000 : 2'000;
  };
  return options;
}

TEST_CASE("the baseline whose program takes less is the answer, with the bound of the search") {
  const Graph graph = MatmulChain({64, 256, 64, 256}, 32);
  for (const auto& [name, replicate] :
       {std::make_pair("all-row", Replicate::kNone), std::make_pair("all-row", Replicate::kAuto),
        std::make_pair("data", Replicate::kAuto)}) {
    INFO(name);
    const SearchOptions options = On(8, replicate);
    const PlannedGraph least = Found(graph, options);
    const PlannedGraph taken = Found(graph, Favouring(name, options));
    CHECK(least.plan.search == "default");
    CHECK(taken.plan.search == name);
    CHECK(taken.plan.value() >= least.plan.value());
    CHECK(taken.plan.lower_bound == least.plan.lower_bound);
    CHECK(taken.plan.asked_bound == least.plan.asked_bound);
    CHECK(taken.plan.space.replicate == replicate);
    REQUIRE(taken.remarks.size() == 1);
    CHECK_THAT(taken.remarks[0], Catch::Contains(name) && Catch::Contains("0.001 ms"));
  }
}

TEST_CASE("a baseline as published, of fewest bytes and without copies, is one of the plans") {
  const Graph graph = Recurrent(16, 64, 2, 3);  // steps share the weights: copies save bytes
  SearchOptions published;
  published.mesh = MeshOf(4);
  published.search = "equal-chop";
  const absl::StatusOr<Plan> plan = Search(graph, published);
  REQUIRE_THAT(plan, IsOk());
  SearchOptions options = On(4, Replicate::kNone);
  options.step_of = [&](const Graph& of, const Plan& offered) -> absl::StatusOr<int64_t> {
    return CostOf(of, offered).bytes() == plan->cost.bytes() ? 1 : 2;
  };
  const Plan taken = Found(graph, options).plan;
  CHECK(taken.search == "equal-chop");
  CHECK(taken.cost.bytes() == plan->cost.bytes());
}

TEST_CASE("no baseline outside the space is taken, and none where nothing is predicted") {
  const Graph graph = MatmulChain({64, 256, 64, 256}, 32);
  CHECK(Found(graph, Favouring("data", On(8, Replicate::kNone))).plan.search == "default");
  SearchOptions options = Favouring("data", On(8, Replicate::kAuto));
  options.memory_limit = 1'000'000;
  options.memory_of = [](const Graph&, const Plan& plan) -> int64_t {
    return plan.search == "data" ? 1'000'001 : 1'000'000;
  };
  const PlannedGraph within = Found(graph, options);
  CHECK(within.plan.search == "default");
  CHECK(within.plan.space.memory == 1'000'000);
  options = Favouring("data", On(8, Replicate::kAuto));
  options.without = {"scheduled"};
  CHECK(Found(graph, options).plan.search == "default");
  options = On(8, Replicate::kAuto);
  options.step_of = [](const Graph&, const Plan& plan) -> absl::StatusOr<int64_t> {
    if (plan.search == "default") return absl::InvalidArgumentError("no program");
    return 1;
  };
  CHECK(Found(graph, options).plan.search == "default");
}

TEST_CASE("a reader of partials takes no longer in one group of devices than without groups") {
  const SearchOptions options = On(8, Replicate::kAuto);
  const Graph graph = MatmulChain({64, 256, 64, 256}, 32);
  const Graph with = WithPartials(graph, options.mesh);
  REQUIRE(HasPartials(with));
  for (size_t n = 0; n < graph.nodes.size(); ++n) {
    const auto node = static_cast<NodeId>(n);
    Sharding partition{std::vector<AxisList>(graph.nodes[n].definition->indices.size())};
    partition.axes[0] = {0};
    const int64_t whole =
        KernelTime(graph, node, GridOf(partition, options.mesh), options.objective);
    const bool groups = !with.nodes[n].definition->partial_operands.empty();
    if (groups) partition.axes.push_back({});
    CHECK(KernelTime(with, node, GridOf(partition, options.mesh), options.objective) == whole);
    if (!groups) continue;
    partition.axes.back() = {1, 2};  // four groups, each of which does all of its part
    CHECK(KernelTime(with, node, GridOf(partition, options.mesh), options.objective) == whole);
  }
}

}  // namespace
}  // namespace yuba::search
