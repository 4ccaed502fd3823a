// The anchored dual, where equal axes may change names.
#include "search/solve/anchored_dual.h"

#include <catch2/catch.hpp>
#include <numeric>

#include "search/model/graph_problem.h"
#include "search/solve/eliminate.h"
#include "search/solve/solve.h"
#include "tests/support/graphs.h"
#include "tests/support/training.h"

namespace yuba::search {
namespace {

Problem ProblemOf(const Graph& graph, int devices, bool cluster) {
  ProblemOptions options;
  options.mesh = MeshOf(devices);
  options.axes.resize(options.mesh.axes.size());
  std::iota(options.axes.begin(), options.axes.end(), 0);
  options.cluster = cluster;
  return BuildProblem(graph, options);
}

std::vector<int> Ascending(const Problem& problem) {
  std::vector<int> order(problem.elements.size());
  std::iota(order.begin(), order.end(), 0);
  return order;
}

TEST_CASE("what the anchored dual prefers leads local search to the cheapest plan") {
  for (const Graph& graph : {Recurrent(3, 5, 2, 4), ResNetTraining(4, 16, 8, {1, 1}),
                             MatmulChain({48, 64, 32, 16}, 8)}) {
    const Problem problem = ProblemOf(graph, 4, true), each = ProblemOf(graph, 4, false);
    const auto exact = SolveExactly(problem.pairwise, int64_t{1} << 24);
    REQUIRE(exact.has_value());
    const absl::optional<Assignment> preferred =
        PreferredByAnchoredDual(each.pairwise, Ascending(each), Budget::Unlimited());
    REQUIRE(preferred.has_value());
    const Assignment start = problem.ValuesOf(each.ChoicesOf(*preferred));
    CHECK(SolveLocally(problem.pairwise, {start}).cost == exact->solution.cost);
    // Even before local search it is no mixture of names.
    CHECK(static_cast<double>(CostOf(problem.pairwise, start)) <=
          1.15 * static_cast<double>(exact->solution.cost));
  }
}

TEST_CASE("without symmetries there is nothing to be anchored") {
  const Problem problem = ProblemOf(MatmulChain({48, 64, 32, 16}, 8), 2, false);
  CHECK_FALSE(PreferredByAnchoredDual(problem.pairwise, Ascending(problem), Budget::Unlimited())
                  .has_value());
}

}  // namespace
}  // namespace yuba::search
