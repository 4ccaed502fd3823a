// Pruned elimination against plain elimination, where both can be done, and its proofs.

#include <catch2/catch.hpp>
#include <numeric>
#include <random>

#include "search/check/check.h"
#include "search/search.h"
#include "search/solve/raise_threshold.h"
#include "search/solve/solve.h"
#include "tests/support/engines.h"
#include "tests/support/graphs.h"
#include "tests/support/status_matchers.h"
#include "tests/support/training.h"

namespace yuba::search {
namespace {

// A value is a class and one of a few labels; symmetries turn the labels of all variables together.
// What a factor costs depends on the classes and on how far the labels are apart.
struct Turning {
  PairwiseProblem problem;
  std::vector<ClassesPtr> classes;
};

Turning RandomTurning(int variables, std::mt19937* random) {
  Turning turning;
  const int classes = 3, labels = 3, size = classes * labels;
  Domain domain;
  domain.size = size;
  Classes of;
  of.count = classes;
  for (int turn = 0; turn < labels; ++turn) {
    domain.images.emplace_back();
    for (int value = 0; value < size; ++value) {
      domain.images.back().push_back(value / labels * labels + (value + turn) % labels);
    }
  }
  // A class has `labels` values, so (value + turn) % labels is the turned label.
  for (int value = 0; value < size; ++value) of.of.push_back(value / labels);
  turning.problem.variables.assign(variables, std::make_shared<const Domain>(domain));
  turning.classes.assign(variables, std::make_shared<const Classes>(of));
  for (int a = 0; a < variables; ++a) {
    for (int b = 0; b < a; ++b) {
      if ((*random)() % 2 == 0) continue;
      std::vector<int64_t> by_class(classes * classes * labels), cells;
      for (int64_t& cost : by_class) cost = 100 + (*random)() % 50;
      for (int x = 0; x < size; ++x) {
        for (int y = 0; y < size; ++y) {
          int unreduced = (x % labels - y % labels + labels) % labels;
          cells.push_back(by_class[(x / labels * classes + y / labels) * labels + unreduced]);
        }
      }
      turning.problem.factors.push_back(
          {{a, b}, std::make_shared<const std::vector<int64_t>>(cells)});
    }
  }
  return turning;
}

TEST_CASE("deepening finds the optimum of problems with cycles") {
  std::mt19937 random(3);
  int above = 0;
  for (int i = 0; i < 200; ++i) {
    CAPTURE(i);
    Turning turning = RandomTurning(8, &random);
    const PairwiseProblem& problem = turning.problem;
    int64_t least = SolveExactly(problem, 1 << 24)->solution.cost;
    Assignment zero(8, 0);
    Solution start = {zero, CostOf(problem, zero)};
    RaiseThresholdOptions options;
    options.fold_cells = i % 2 == 0 ? 81 : 0;
    absl::optional<RaisedThreshold> raised =
        RaiseThreshold(problem, turning.classes, start, options);
    REQUIRE(raised.has_value());
    CHECK(raised->solution.cost == least);
    CHECK(raised->bound == least);
    CHECK(CostOf(problem, raised->solution.assignment) == least);
    // From the optimum it is proved that there is nothing better.
    RaisedThreshold proved = *RaiseThreshold(problem, turning.classes, raised->solution, options);
    CHECK(proved.bound == least);
    above += SolveExactly(problem, 1 << 24)->solution.cost < start.cost;
    // Too little work still gives a bound, and never a worse solution.
    options.work = 1000;
    RaisedThreshold hasty = *RaiseThreshold(problem, turning.classes, start, options);
    CHECK(hasty.bound <= least);
    CHECK(hasty.solution.cost >= least);
    CHECK(hasty.solution.cost <= start.cost);
  }
  CHECK(above > 150);
}

TEST_CASE("tables by classes that do not fit are refused") {
  std::mt19937 random(4);
  Turning turning = RandomTurning(10, &random);
  Assignment zero(10, 0);
  RaiseThresholdOptions options;
  options.class_cells = 2;
  options.fold_cells = 2;
  CHECK(!RaiseThreshold(turning.problem, turning.classes, {zero, CostOf(turning.problem, zero)},
                        options));
}

TEST_CASE("blocks that do not fit are never made") {
  std::mt19937 random(5);
  const int variables = 30;  // all meet: a block of 9^29 cells
  Turning turning = RandomTurning(variables, &random);
  Classes one;
  one.count = 1;
  one.of.assign(9, 0);
  turning.classes.assign(variables, std::make_shared<const Classes>(one));
  const Assignment zero(variables, 0);
  const int64_t cost = CostOf(turning.problem, zero);
  RaiseThresholdOptions options;
  options.fold_cells = 0;
  const auto raised = RaiseThreshold(turning.problem, turning.classes, {zero, cost}, options);
  REQUIRE(raised.has_value());
  CHECK(raised->bound > 0);
  CHECK(raised->bound <= raised->solution.cost);
  CHECK(raised->solution.cost <= cost);
}

TEST_CASE("plans that are found by deepening are optimal, and their proofs are replayed") {
  int deep = 0;  // where grids alone did not show the bound
  const std::vector<Graph> graphs = {ResNet(4, {1, 1}), Recurrent(3, 5, 2, 4),
                                     Recurrent(16, 20, 1, 4)};
  for (int i = 0; i < 9; ++i) {
    const Graph& graph = graphs[i / 3];
    SearchOptions options;
    options.mesh = MeshOf(std::vector<int>{4, 6, 9}[i % 3]);
    const int64_t least = Search(graph, options)->cost.bytes();  // by plain elimination
    const Plan plan = Search(graph, Only(options, {"grids", "axes", "prune"})).value();
    CHECK(plan.lower_bound <= least);
    CHECK_THAT(CheckPlan(graph, plan), IsOk());
    if (plan.proof.order.empty() || plan.lower_bound < plan.cost.bytes()) continue;
    ++deep;
    REQUIRE(plan.proof.kind == ProofKind::kGrids);
    CHECK(plan.proof.plain < static_cast<int>(plan.proof.order.size()));
    CHECK(plan.cost.bytes() == least);
    // A plan that is not the best, and the proof of a bound that is too high.
    options.search = "all-row";
    Plan worse = Search(graph, options).value();
    REQUIRE(worse.cost.bytes() > least);
    worse.space = plan.space;
    worse.proof = plan.proof;
    worse.lower_bound = least + 1;
    CHECK_THAT(CheckPlan(graph, worse), Fails("its proof shows only"));
    worse.lower_bound = least;
    for (const int wrong : {-1, 1000}) {
      worse.proof.plain = wrong;
      CHECK_THAT(CheckPlan(graph, worse), Fails("plainly"));
    }
  }
  CHECK(deep > 0);
}

}  // namespace
}  // namespace yuba::search
