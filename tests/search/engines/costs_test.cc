// Costs of a problem: those of one level are those of plans that place no later axis, and sums of
// large ones are counted.

#include <catch2/catch.hpp>
#include <random>
#include <vector>

#include "search/check/check.h"
#include "search/model/countable.h"
#include "search/model/graph_problem.h"
#include "search/search.h"
#include "tests/support/graphs.h"
#include "tests/support/status_matchers.h"

namespace yuba::search {
namespace {

TEST_CASE("costs of a level count all devices, also those that differ on later axes alone") {
  const Mesh mesh = MeshOf(12);  // axes of 3, 2 and 2
  std::mt19937 random(7);
  for (const Graph& graph : {ResNet(4, {1}), Recurrent(4, 6, 1, 2), MatmulChain({8, 12, 6}, 10)}) {
    Choices given;
    for (int axis = 0; axis < 3; ++axis) {
      CAPTURE(axis);
      ProblemOptions options;
      options.mesh = mesh;
      options.nesting = Nesting::kAnywhere;
      options.axes = {axis};
      options.given = given;
      const Problem problem = BuildProblem(graph, options);
      for (int round = 0; round < 20; ++round) {
        Assignment values;
        for (const DomainPtr& domain : problem.pairwise.variables) {
          values.push_back(static_cast<int>(random() % domain->size));
        }
        const Choices choices = problem.ChoicesOf(values);
        Plan plan;
        plan.mesh = mesh;
        const auto nodes = choices.begin() + static_cast<int64_t>(graph.tensors.size());
        plan.tensors.assign(choices.begin(), nodes);
        plan.nodes.assign(nodes, choices.end());
        CHECK(CostOf(problem.pairwise, values) == CostOf(graph, plan).bytes());
        given = choices;
      }
    }
  }
}

// Products of square matrices, one after the other.
Graph Squares(int count, int64_t width) {
  GraphBuilder b;
  TensorId value = b.Input({width, width});
  for (int i = 0; i < count; ++i) value = b.Matmul(value, b.Parameter({width, width}));
  return b.Finish({value});
}

TEST_CASE("a graph whose uses could move 10^18 bytes together is planned and proved") {
  // One use moves at most 2 * 64 * 2^50 bytes, 1.4 * 10^17; all 24 could move 3 * 10^18.
  const Graph graph = Squares(8, int64_t{1} << 24);
  SearchOptions options;
  options.mesh = MeshOf(64);
  const absl::StatusOr<Plan> plan = Search(graph, options);
  REQUIRE_THAT(plan, IsOk());
  CHECK(plan->cost.bytes() > 0);
  CHECK(plan->lower_bound > plan->cost.bytes() * 9 / 10);
  CHECK_THAT(CheckPlan(graph, *plan), IsOk());
}

TEST_CASE("a graph of which one use could move 10^18 bytes is refused") {
  SearchOptions options;
  options.mesh = MeshOf(1024);
  const absl::StatusOr<Plan> plan = Search(Squares(1, int64_t{1} << 24), options);
  REQUIRE(absl::IsInvalidArgument(plan.status()));
  CHECK_THAT(std::string(plan.status().message()), Catch::Contains("alone could move 10^18"));
}

TEST_CASE("costs that could not be added up count as less, forbidden ones stay forbidden") {
  const int64_t most = MostOfUse(Squares(8, 4));
  CHECK(most * 24 < kForbidden);
  std::vector<int64_t> cells = {3, most, most + 1, kForbidden - 1, kForbidden};
  const Cells small = std::make_shared<const std::vector<int64_t>>(std::vector<int64_t>{3, most});
  CHECK(Countable(most, small) == small);
  const Cells large = std::make_shared<const std::vector<int64_t>>(cells);
  MakeCountable(most, cells);
  CHECK(cells == std::vector<int64_t>{3, most, most, most, kForbidden});
  CHECK(*Countable(most, large) == cells);
}

}  // namespace
}  // namespace yuba::search
